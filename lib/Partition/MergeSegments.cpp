// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbours of one target become one segment. Forming segments leaves no such neighbours; segments from elsewhere, or
// what a rewrite made of ours, may have them.

#include "inlay/Partition/Copies.h"
#include "inlay/Partition/OpKinds.h"
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

/// Gives `to` the inputs of `from`: what `to` has already, or makes itself, is no further input.
static void mergeInputs(SegmentOp to, SegmentOp from) {
  Block &body = to.getBody().front();
  Operation *yield = body.getTerminator();
  llvm::DenseMap<Value, Value> inside;
  for (auto [input, argument] : llvm::zip(to.getInputs(), body.getArguments()))
    inside.insert({input, argument});
  for (auto [result, value] : llvm::zip(to.getResults(), yield->getOperands()))
    inside.insert({result, value});
  for (auto [input, argument] : llvm::zip(from.getInputs(), from.getBody().front().getArguments())) {
    Value &value = inside[input];
    if (!value) {
      to.getInputsMutable().append(input);
      value = body.addArgument(input.getType(), argument.getLoc());
    }
    argument.replaceAllUsesWith(value);
  }
  // While open, the body also reads what `to` makes by the name it has outside.
  for (auto [result, value] : llvm::zip(to.getResults(), yield->getOperands()))
    result.replaceUsesWithIf(value, [&](OpOperand &use) { return from->isAncestor(use.getOwner()); });
}

/// One segment of both, where `from` was; what only `from` read of `to` is no result any more.
static SegmentOp merge(SegmentOp to, SegmentOp from) {
  mergeInputs(to, from);
  Block &body = to.getBody().front();
  Operation *yield = body.getTerminator(), *otherYield = from.getBody().front().getTerminator();
  SmallVector<Value> outputs, replaced;
  for (auto [segment, values] : {std::pair(to, yield->getOperands()), {from, otherYield->getOperands()}})
    for (auto [result, value] : llvm::zip(segment.getResults(), values))
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return user != from; })) {
        outputs.push_back(value);
        replaced.push_back(result);
      }
  OpBuilder builder(from);
  auto merged = SegmentOp::create(builder, to.getLoc(), TypeRange(ValueRange(outputs)), to.getInputs(), to.getTarget(),
                                  /*do_not_merge=*/false);
  merged->setDiscardableAttrs(to->getDiscardableAttrDictionary());
  merged.getBody().takeBody(to.getBody());
  yield->erase();
  body.getOperations().splice(body.end(), from.getBody().front().getOperations());
  otherYield->setOperands(outputs);
  for (auto [value, result] : llvm::zip(replaced, merged.getResults()))
    value.replaceAllUsesWith(result);
  from->erase();
  to->erase();
  return merged;
}

/// Joins neighbours of the block, constants between them aside, and returns the segments that were joined.
static SmallVector<SegmentOp> mergeNeighbours(Block &block) {
  llvm::SetVector<Operation *> merged;
  SegmentOp previous;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto segment = dyn_cast<SegmentOp>(op);
    if (!segment && isConstantLike(&op))
      continue;
    if (!segment || segment.getDoNotMerge()) {
      previous = nullptr;
      continue;
    }
    if (previous && previous.getTarget() == segment.getTarget()) {
      merged.remove(previous);
      previous = merge(previous, segment);
      merged.insert(previous);
      remark::passed(previous.getLoc(), remark::RemarkOpts::name("Merge").category("inlay-partition"))
          << remark::metric("target", previous.getTargetInterface().getTargetName().str())
          << remark::metric("ops", previous.getBody().front().getOperations().size() - 1);
    } else {
      previous = segment;
    }
  }
  return llvm::map_to_vector(merged, [](Operation *op) { return cast<SegmentOp>(op); });
}

namespace {
struct MergeSegmentsPass : inlay::impl::MergeSegmentsPassBase<MergeSegmentsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      SmallVector<SegmentOp> merged;
      // Inner blocks first: a segment that was joined is not looked into again.
      function->walk([&](Block *block) { llvm::append_range(merged, mergeNeighbours(*block)); });
      if (merged.empty())
        continue;
      for (SegmentOp segment : merged)
        mergeConstants(segment);
      Aliases aliases(function);
      for (SegmentOp segment : merged)
        mergeClones(segment.getBody().front(), aliases, WrittenCopies::StayApart);
    }
  }
};
} // namespace
