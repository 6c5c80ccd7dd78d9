// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closing check of the phase. It shares nothing with how segments are formed but the questions to targets.

#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Partition/OpKinds.h"
#include "inlay/Partition/Passes.h"
#include "inlay/Partition/Targets.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {
#define GEN_PASS_DEF_PARTITIONVERIFYPASS
#include "inlay/Partition/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

namespace {
class Verifier {
public:
  explicit Verifier(TargetList &targets) : targets(targets) {}

  LogicalResult verify(Block &block) {
    for (Operation &op : block) {
      if (isConstantLike(&op) || op.hasTrait<OpTrait::IsTerminator>())
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
    unsigned originals = 0;
    for (Operation &op : segment.getBody().front().without_terminator()) {
      originals += !isConstantLike(&op) && !op.hasAttr(InlayDialect::kCloneAttr);
      if (failed(verify(segment, &op, *target)))
        return failure();
    }
    if (originals == 0)
      return segment.emitOpError("expected a segment with ops, but it has none but copies");
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
    if (!op->hasAttr(InlayDialect::kCloneAttr)) {
      auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
      if (!verdict)
        return op->emitOpError("expected a verdict on an op in a segment, but got none");
      if (verdict.getTarget() != targets.getName(target))
        return op->emitOpError("expected a verdict for its segment's target '")
               << targets.getName(target) << "', but got '" << verdict.getTarget() << "'";
    }
    if (op->hasAttr(InlayDialect::kDoNotMergeAttr) && !isAlone(segment))
      return op->emitOpError("expected an op with 'inlay.do_not_merge' to be alone in a segment with do_not_merge");
    if (isControlFlow(op) && !targets.isAccelerator(target))
      return verifySplit(segment, op);
    if (const Verdict &answer = targets.ask(target, op); !answer.isSupported())
      return op->emitOpError("expected an op that '") << targets.getName(target) << "' can run: " << answer.text;
    return success();
  }

  static bool isAlone(SegmentOp segment) {
    unsigned originals = 0;
    for (Operation &op : segment.getBody().front().without_terminator())
      originals += !isConstantLike(&op) && !op.hasAttr(InlayDialect::kCloneAttr);
    return originals == 1 && segment.getDoNotMerge();
  }

  LogicalResult verifySplit(SegmentOp segment, Operation *op) {
    if (!isAlone(segment))
      return op->emitOpError("expected control flow that is split to be alone in a segment with do_not_merge");
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(verify(region.front())))
        return failure();
    return success();
  }

  TargetList &targets;
};

struct PartitionVerifyPass : inlay::impl::PartitionVerifyPassBase<PartitionVerifyPass> {
  void runOnOperation() override {
    FailureOr<TargetList> targets = TargetList::get(getOperation());
    if (failed(targets))
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal() && failed(Verifier(*targets).verify(function.front())))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
