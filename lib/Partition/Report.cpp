// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Report.h"
#include "inlay/Partition/Passes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace inlay {
#define GEN_PASS_DEF_PARTITIONREPORTPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
struct PartitionReportPass : inlay::impl::PartitionReportPassBase<PartitionReportPass> {
  using PartitionReportPassBase::PartitionReportPassBase;

  void runOnOperation() override {
    if (format != "json" && format != "text") {
      getOperation().emitError("expected format to be json or text, but got '") << format.getValue() << "'";
      return signalPassFailure();
    }
    std::string report = format == "json" ? getReportJson(getOperation()) : getReportText(getOperation());
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
    if (!error) {
      file.os() << report;
      file.os().flush();
      error = file.os().error();
      file.os().clear_error();
    }
    if (error) {
      getOperation().emitError("can't write the report to '") << output.getValue() << "': " << error.message();
      return signalPassFailure();
    }
    file.keep();
    markAllAnalysesPreserved();
  }
};
} // namespace
