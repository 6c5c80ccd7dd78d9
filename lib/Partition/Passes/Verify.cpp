// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The final check of the phase. It shares only the queries to targets and the classification of ops with the code that
// forms segments.

#include "Partition/Verify/VerifyParts.h"

#include "Partition/Analysis/NameRules.h"
#include "Partition/Analysis/OpKinds.h"
#include "Partition/Decide/Targets.h"
#include "PassSettings.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {
#define GEN_PASS_DEF_PARTITIONVERIFYPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

static bool hasMark(Operation *op, StringRef name) { return op->getDiscardableAttr(name) != nullptr; }

namespace {
class Verifier {
public:
  Verifier(TargetList &targets, const PartitionInfo &info) : targets(targets), info(info) {}

  LogicalResult verify(Block &block) {
    for (Operation &op : block) {
      if (isConstantLike(&op) || op.hasTrait<OpTrait::IsTerminator>() || unpacksArgument(&op))
        continue;
      auto segment = dyn_cast<SegmentOp>(op);
      if (!segment)
        return op.emitError("expected every op to be in a segment, but got '") << op.getName() << "' outside of one";
      if (failed(verify(segment)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult verify(SegmentOp segment) {
    std::optional<unsigned> target;
    for (unsigned number = 0; number < targets.size(); ++number)
      if (targets.getAttr(number) == segment.getTarget())
        target = number;
    if (!target)
      return segment.emitOpError("expected a target of the module, but got ") << segment.getTarget();
    if (!segment.isClosed())
      return segment.emitOpError("expected a closed segment, but its body uses values from around it");
    if (failed(verifyBorder(segment, *target)))
      return failure();
    for (Operation &op : segment.getBody().front().without_terminator())
      if (failed(verify(segment, &op, *target)))
        return failure();
    int64_t size = countOriginals(segment);
    if (size == 0)
      return segment.emitOpError("expected a segment with ops, but got only clones");
    if (size < info.minBlockSize && targets.isAccelerator(*target) && mayMoveOn(segment, *target))
      return segment.emitOpError("expected at least ")
             << info.minBlockSize << " ops on '" << targets.getName(*target) << "', but got " << size;
    return success();
  }

  static int64_t countOriginals(SegmentOp segment) {
    return llvm::count_if(segment.getBody().front().without_terminator(), [](Operation &op) {
      return !isConstantLike(&op) && !hasMark(&op, InlayDialect::kCloneAttr);
    });
  }

  /// Returns false if some op of the segment cannot move to another target.
  bool mayMoveOn(SegmentOp segment, unsigned target) {
    return llvm::none_of(segment.getBody().front().without_terminator(), [&](Operation &op) {
      if (isConstantLike(&op) || hasMark(&op, InlayDialect::kCloneAttr))
        return false;
      bool hasOther = false;
      for (unsigned other = target + 1; other < targets.size(); ++other)
        hasOther |= targets.canRun(other, &op);
      return !hasOther || isControlFlow(&op) || hasMark(&op, InlayDialect::kTargetAttr) ||
             matchesAnyName(&op, info.exemptOps);
    });
  }

  /// Checks pins and forced fallbacks.
  LogicalResult verifyForced(Operation *op, unsigned target) {
    if (auto pin = dyn_cast_or_null<StringAttr>(op->getDiscardableAttr(InlayDialect::kTargetAttr));
        pin && pin != targets.getName(target))
      return op->emitOpError("expected an op that is pinned to '")
             << pin.getValue() << "' to run there, but got it on '" << targets.getName(target) << "'";
    if (hasMark(op, InlayDialect::kTargetAttr) || isControlFlow(op) ||
        llvm::none_of(info.fallbackOps, [&](StringRef name) { return matchesName(op, name); }))
      return success();
    for (unsigned other = target + 1; other < targets.size(); ++other)
      if (targets.canRun(other, op))
        return op->emitOpError("expected an op that must fall back on '")
               << targets.getName(other) << "', but got it on '" << targets.getName(target) << "'";
    return success();
  }

  LogicalResult verifyBorder(SegmentOp segment, unsigned target) {
    if (!targets.isAccelerator(target))
      return success();
    for (Type type : segment->getOperandTypes())
      if (!mayCrossBorder(type))
        return segment.emitOpError("expected only tensors and scalars to enter '")
               << targets.getName(target) << "', but got " << type;
    for (Type type : segment->getResultTypes())
      if (!mayCrossBorder(type))
        return segment.emitOpError("expected only tensors and scalars to leave '")
               << targets.getName(target) << "', but got " << type;
    return success();
  }

  LogicalResult verify(SegmentOp segment, Operation *op, unsigned target) {
    if (isConstantLike(op))
      return success();
    if (isa<SegmentOp>(op))
      return op->emitOpError("expected no segment directly in another");
    if (!hasMark(op, InlayDialect::kCloneAttr)) {
      auto verdict = dyn_cast_or_null<VerdictAttr>(op->getDiscardableAttr(InlayDialect::kVerdictAttr));
      if (!verdict)
        return op->emitOpError("expected a verdict on an op in a segment, but got none");
      if (verdict.getTarget() != targets.getName(target))
        return op->emitOpError("expected a verdict for its segment's target '")
               << targets.getName(target) << "', but got '" << verdict.getTarget() << "'";
      if (failed(verifyForced(op, target)))
        return failure();
    }
    if (hasMark(op, InlayDialect::kDoNotMergeAttr) && !isAlone(segment))
      return op->emitOpError("expected an op with 'inlay.do_not_merge' to be alone in a segment with do_not_merge");
    if (isControlFlow(op) && !targets.isAccelerator(target))
      return verifySplit(segment, op);
    if (const Verdict &answer = targets.ask(target, op); !answer.isSupported())
      return op->emitOpError("expected an op that '") << targets.getName(target) << "' can run: " << answer.text;
    return success();
  }

  static bool isAlone(SegmentOp segment) { return countOriginals(segment) == 1 && segment.getDoNotMerge(); }

  LogicalResult verifySplit(SegmentOp segment, Operation *op) {
    if (!isAlone(segment))
      return op->emitOpError("expected control flow that is split to be alone in a segment with do_not_merge");
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(verify(region.front())))
        return failure();
    return success();
  }

  TargetList &targets;
  const PartitionInfo &info;
};

LogicalResult checkOneBlock(FunctionOpInterface function) {
  if (function.getFunctionBody().hasOneBlock())
    return success();
  return function.emitError("expected a partitioned function to have one block, but got ")
         << llvm::range_size(function.getFunctionBody());
}

struct PartitionVerifyPass : inlay::impl::PartitionVerifyPassBase<PartitionVerifyPass> {
  using PartitionVerifyPassBase::PartitionVerifyPassBase;

  explicit PartitionVerifyPass(const PartitionInfo &info) { copySettings(info, CopyToOption()); }

  template <typename Info, typename Copy>
  void copySettings(Info &info, Copy copy) {
    copy(info.minBlockSize, minBlockSize);
    copy(info.exemptOps, exemptOps);
    copy(info.fallbackOps, fallbackOps);
  }

  void runOnOperation() override {
    PartitionInfo info;
    copySettings(info, CopyFromOption());
    FailureOr<TargetList> targets = TargetList::get(getOperation(), {}, &getAnalysis<Verdicts>());
    if (failed(targets))
      return signalPassFailure();
    Verifier verifier(*targets, info);
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal() && (failed(checkOneBlock(function)) || failed(verifier.verify(function.front())) ||
                                     failed(verifyClones(function)) || failed(verifyEffects(function))))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

std::unique_ptr<Pass> inlay::createPartitionVerifyPass(const PartitionInfo &info) {
  return std::make_unique<PartitionVerifyPass>(info);
}
