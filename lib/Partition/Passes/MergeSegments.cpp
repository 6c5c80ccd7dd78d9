// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges adjacent segments of the same target. `FormSegments` leaves none, but segments from elsewhere or after a
// rewrite may be adjacent.

#include "Partition/Analysis/OpKinds.h"
#include "Partition/Form/MergeClones.h"
#include "inlay/Partition/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {
#define GEN_PASS_DEF_MERGESEGMENTSPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Merges the segments into one at the position of the last one. A value that several of them read becomes one input. A
/// result that only they read is no result of the merged segment.
static SegmentOp merge(ArrayRef<SegmentOp> run) {
  llvm::SmallPtrSet<Operation *, 8> members(run.begin(), run.end());
  Block *block = run.front()->getBlock();
  SmallVector<Value> inputs, outputs, replaced;
  llvm::DenseMap<Value, Value> inside;
  Region region;
  Block &body = region.emplaceBlock();
  for (SegmentOp segment : run) {
    Block &old = segment.getBody().front();
    for (auto [input, argument] : llvm::zip(segment.getInputs(), old.getArguments())) {
      Value &value = inside[input];
      if (!value) {
        inputs.push_back(input);
        value = body.addArgument(input.getType(), argument.getLoc());
      }
      argument.replaceAllUsesWith(value);
    }
    for (auto [result, value] : llvm::zip(segment.getResults(), old.getTerminator()->getOperands())) {
      inside[result] = value;
      // Ops in open bodies may also read the result by the name that it has outside.
      result.replaceUsesWithIf(value, [&](OpOperand &use) {
        return !members.contains(use.getOwner()) && members.contains(block->findAncestorOpInBlock(*use.getOwner()));
      });
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); })) {
        outputs.push_back(value);
        replaced.push_back(result);
      }
    }
    body.getOperations().splice(body.end(), old.getOperations(), old.begin(), std::prev(old.end()));
  }
  SegmentOp first = run.front();
  OpBuilder builder(run.back());
  auto merged = SegmentOp::create(builder, first.getLoc(), TypeRange(ValueRange(outputs)), inputs, first.getTarget(),
                                  /*do_not_merge=*/false);
  merged->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  merged.getBody().takeBody(region);
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, merged.getLoc(), outputs);
  for (auto [value, result] : llvm::zip(replaced, merged.getResults()))
    value.replaceAllUsesWith(result);
  for (SegmentOp segment : llvm::reverse(run))
    segment->erase();
  return merged;
}

/// Returns the runs of adjacent segments of one target. Constants between them do not separate them.
static std::vector<SmallVector<SegmentOp, 2>> findRuns(Block &block) {
  std::vector<SmallVector<SegmentOp, 2>> runs;
  bool isOpen = false;
  for (Operation &op : block) {
    auto segment = dyn_cast<SegmentOp>(op);
    if (!segment && isConstantLike(&op))
      continue;
    bool mayMerge = segment && !segment.getDoNotMerge();
    if (mayMerge && !(isOpen && runs.back().front().getTarget() == segment.getTarget()))
      runs.emplace_back();
    if (mayMerge)
      runs.back().push_back(segment);
    isOpen = mayMerge;
  }
  llvm::erase_if(runs, [](auto &run) { return run.size() == 1; });
  return runs;
}

/// Merges adjacent segments of the block and returns the merged ones.
static SmallVector<SegmentOp> mergeNeighbors(Block &block) {
  SmallVector<SegmentOp> merged;
  for (ArrayRef<SegmentOp> run : findRuns(block)) {
    SegmentOp segment = merge(run);
    merged.push_back(segment);
    if (segment->getContext()->getRemarkEngine())
      remark::passed(segment.getLoc(), remark::RemarkOpts::name("Merge").category("inlay-partition"))
          << remark::metric("target", segment.getTargetInterface().getTargetName().str())
          << remark::metric("ops", segment.getBody().front().getOperations().size() - 1);
  }
  return merged;
}

namespace {
struct MergeSegmentsPass : inlay::impl::MergeSegmentsPassBase<MergeSegmentsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      SmallVector<SegmentOp> merged;
      // Inner blocks come first, so that a merged segment is not visited again.
      function->walk([&](Block *block) { llvm::append_range(merged, mergeNeighbors(*block)); });
      if (merged.empty())
        continue;
      for (SegmentOp segment : merged)
        mergeConstants(segment);
      Aliases aliases(function);
      for (SegmentOp segment : merged)
        mergeClones(segment.getBody().front(), aliases, ChangedClones::KeepSeparate);
    }
  }
};
} // namespace
