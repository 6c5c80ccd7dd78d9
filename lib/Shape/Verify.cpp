// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the dims of all values at segment borders are known, because later phases allocate and copy exactly
// these.

#include "inlay/Dialect/Inlay/IR/Segments.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Shape/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {
#define GEN_PASS_DEF_SHAPEVERIFYPASS
#include "inlay/Shape/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns the unknown part of the shape of `value`: "dim 1", "the rank", or an empty string.
static std::string findUnknown(Value value) {
  if (isa<UnrankedTensorType>(value.getType()))
    return "the rank";
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || getDims(value))
    return "";
  return ("dim " + Twine(llvm::find_if(tensor.getShape(), ShapedType::isDynamic) - tensor.getShape().begin())).str();
}

/// Checks one side of the border. `number` is the segment's number in its function.
static LogicalResult checkBorder(SegmentOp segment, unsigned number, StringRef side, ValueRange values) {
  LogicalResult result = success();
  for (auto [index, value] : llvm::enumerate(values)) {
    std::string unknown = findUnknown(value);
    if (unknown.empty())
      continue;
    InFlightDiagnostic diagnostic =
        segment.emitError("expected dims that follow from those of the inputs at the border of segment ")
        << number << " on '" << segment.getTargetInterface().getTargetName() << "', but got " << side << " " << index
        << " of type " << value.getType() << " with " << unknown << " unknown";
    if (Operation *producer = value.getDefiningOp(); producer && producer != segment)
      diagnostic.attachNote(producer->getLoc()) << "defined here";
    result = failure();
  }
  return result;
}

namespace {
struct ShapeVerifyPass : inlay::impl::ShapeVerifyPassBase<ShapeVerifyPass> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      for (auto [number, segment] : llvm::enumerate(listSegments(function.getFunctionBody().front()))) {
        LogicalResult inputs = checkBorder(segment, number, "input", segment.getInputs());
        LogicalResult outputs = checkBorder(segment, number, "output", segment.getOutputs());
        if (failed(inputs) || failed(outputs))
          signalPassFailure();
      }
    });
  }
};
} // namespace
