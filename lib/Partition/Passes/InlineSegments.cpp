// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of partitioning: inlines all segments into their blocks.

#include "Partition/Decide/ArgumentUnpacking.h"
#include "Partition/Form/MergeClones.h"
#include "inlay/Partition/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {
#define GEN_PASS_DEF_INLINESEGMENTSPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

static void inlineSegment(SegmentOp segment) {
  Block &body = segment.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), segment.getInputs()))
    argument.replaceAllUsesWith(input);
  Operation *yield = body.getTerminator();
  segment->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  segment->getBlock()->getOperations().splice(segment->getIterator(), body.getOperations());
  segment->erase();
}

static void inlineSegments(FunctionOpInterface function) {
  // Inner segments come first, so that an inlined body contains no segment.
  SmallVector<SegmentOp> segments;
  function->walk([&](SegmentOp segment) { segments.push_back(segment); });
  for (SegmentOp segment : segments)
    inlineSegment(segment);
  removeUnpacking(function);
  mergeConstants(function);
  Aliases aliases(function);
  function->walk([&](Block *block) {
    mergeClones(*block, aliases, ChangedClones::Merge);
    restoreOrder(*block);
  });
  function->walk([](Operation *op) {
    for (StringRef name : {InlayDialect::kCloneAttr, InlayDialect::kVerdictAttr, InlayDialect::kOrderAttr})
      op->removeAttr(name);
  });
  function->removeAttr(InlayDialect::kSizeAttr);
  function->removeAttr(InlayDialect::kWitnessAttr);
  function->removeAttr(InlayDialect::kPartitionAttr);
}

namespace {
struct InlineSegmentsPass : inlay::impl::InlineSegmentsPassBase<InlineSegmentsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        inlineSegments(function);
  }
};
} // namespace
