// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that writes the report, and the choice of its format. The writers are in Report/.

#include "inlay/Partition/Report.h"
#include "Partition/Report/ReportWriters.h"
#include "inlay/Partition/Passes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

namespace inlay {
#define GEN_PASS_DEF_PARTITIONREPORTPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

std::optional<ReportFormat> inlay::symbolizeReportFormat(StringRef name) {
  return llvm::StringSwitch<std::optional<ReportFormat>>(name)
      .Case("json", ReportFormat::Json)
      .Case("text", ReportFormat::Text)
      .Case("table", ReportFormat::Table)
      .Case("html", ReportFormat::Html)
      .Default(std::nullopt);
}

ReportFormat inlay::findReportFormat(StringRef path) {
  return llvm::StringSwitch<ReportFormat>(llvm::sys::path::extension(path))
      .Case(".txt", ReportFormat::Text)
      .Cases({".html", ".htm"}, ReportFormat::Html)
      .Default(ReportFormat::Json);
}

void inlay::writeReport(llvm::raw_ostream &os, ModuleOp module, ReportFormat format) {
  SmallVector<FunctionOpInterface> functions;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal())
      functions.push_back(function);
  switch (format) {
  case ReportFormat::Json:
    return writeJsonReport(os, functions);
  case ReportFormat::Text:
    return writeTextReport(os, functions);
  case ReportFormat::Table:
    return writeTableReport(os, functions);
  case ReportFormat::Html:
    return writeHtmlReport(os, functions);
  }
}

std::string inlay::getReport(ModuleOp module, ReportFormat format) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os.SetBufferSize(1 << 16); // Large, since writers emit single characters.
  writeReport(os, module, format);
  os.flush();
  return result;
}

namespace {
struct PartitionReportPass : inlay::impl::PartitionReportPassBase<PartitionReportPass> {
  using PartitionReportPassBase::PartitionReportPassBase;

  void runOnOperation() override {
    std::optional<ReportFormat> wanted = format.empty() ? findReportFormat(output) : symbolizeReportFormat(format);
    if (!wanted) {
      getOperation().emitError("expected format to be json, text, table or html, but got '")
          << format.getValue() << "'";
      return signalPassFailure();
    }
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
    if (!error) {
      writeReport(file.os(), getOperation(), *wanted);
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
