// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlined segments to engines, each by its target.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace inlay {
#define GEN_PASS_DEF_CONVERTSEGMENTSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// The target that is to convert `func`; null if none is, failure if it can't be asked.
static FailureOr<TargetAttrInterface> getSegmentTarget(func::FuncOp func) {
  Attribute attr = func->getAttr(kSegmentAttr);
  if (!attr)
    return TargetAttrInterface();
  auto target = dyn_cast<TargetAttrInterface>(attr);
  if (!target)
    return func.emitError("expected '") << kSegmentAttr << "' to be a target, but got " << attr;
  if (func.isDeclaration())
    return func.emitError("expected a segment to convert, but it has no body");
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("expected a segment of one block, but got ") << func.getBody().getBlocks().size();
  return target;
}

namespace {
struct ConvertSegmentsPass : inlay::impl::ConvertSegmentsPassBase<ConvertSegmentsPass> {
  void runOnOperation() override {
    llvm::SetVector<TargetAttrInterface> targets;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      FailureOr<TargetAttrInterface> target = getSegmentTarget(func);
      if (failed(target))
        return signalPassFailure();
      if (!*target)
        continue;
      targets.insert(*target);
      if (failed(target->convertSegment(func)))
        return signalPassFailure();
    }
    for (TargetAttrInterface target : targets)
      if (failed(target.finishModule(getOperation())))
        return signalPassFailure();
  }
};
} // namespace
