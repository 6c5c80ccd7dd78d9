// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that saves the placement of a partitioned module. ReplayPlacement.cpp applies a saved one.

#include "Partition/Form/Fingerprint.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/PlacementFile.h"
#include "inlay/Partition/Report.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

namespace inlay {
#define GEN_PASS_DEF_SAVEPLACEMENTPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

static PlacedFunction makePlacement(FunctionOpInterface function) {
  GraphFingerprint fingerprint = makeFingerprint(function);
  Report report = makeReport(function);
  PlacedFunction placed{report.function, fingerprint.whole, std::move(report.segments), {}};
  for (const ReportedOp &op : report.ops)
    placed.ops.push_back({op.label, op.name, fingerprint.ops.lookup(op.label), op.code, op.text, op.causedBy});
  return placed;
}

namespace {
struct SavePlacementPass : inlay::impl::SavePlacementPassBase<SavePlacementPass> {
  using SavePlacementPassBase::SavePlacementPassBase;

  void runOnOperation() override {
    PlacementFile placement;
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        placement.push_back(makePlacement(function));
    std::error_code error;
    llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_Text);
    if (!error) {
      file.os() << writePlacement(placement);
      file.os().flush();
      error = file.os().error();
      file.os().clear_error();
    }
    if (error) {
      getOperation().emitError("can't write the placement to '") << output.getValue() << "': " << error.message();
      return signalPassFailure();
    }
    file.keep();
    markAllAnalysesPreserved();
  }
};
} // namespace
