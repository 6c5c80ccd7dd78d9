// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuses chains of elementwise ops into one op, and into the reduction that reads its result, with MLIR's fusion
// patterns. Control functions decide when fusion pays.

#include "inlay/Convert/LoopNest/Combiner.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace inlay {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns true if computing `producer` again costs next to nothing.
static bool isCheap(Operation *producer) {
  auto op = dyn_cast<linalg::LinalgOp>(producer);
  return !op || llvm::all_of(op.getBlock()->without_terminator(), llvm::IsaPred<arith::ConstantOp, CastOpInterface>);
}

/// Returns true if fusion of elementwise ops pays. Fusion into a broadcast, or of a producer with several users, would
/// compute the producer more than once per element.
static bool pays(OpOperand *fused) {
  Operation *producer = fused->get().getDefiningOp();
  auto consumer = dyn_cast<linalg::LinalgOp>(fused->getOwner());
  return producer && producer->hasOneUse() && consumer && consumer.getNumReductionLoops() == 0 &&
         (consumer.getMatchingIndexingMap(fused).isPermutation() || isCheap(producer));
}

/// Returns true if the loops of the map are in order, so that an operand is contiguous along the last loop or does not
/// move along it.
static bool followsLoops(AffineMap map) {
  int last = -1;
  for (AffineExpr result : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (loop && static_cast<int>(loop.getPosition()) <= last)
      return false;
    if (loop)
      last = static_cast<int>(loop.getPosition());
  }
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// Returns true if fusion of an elementwise op into a reduction pays: the reduction reads each element once, in order,
/// and can still compute vectors. A product of two operands stays separate, so that no dot product results, which other
/// passes would take for a matrix product.
static bool paysForReduction(OpOperand *fused) {
  auto producer = fused->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(fused->getOwner());
  if (!producer || !producer->hasOneUse() || !consumer || consumer.getNumReductionLoops() == 0 ||
      consumer.getNumDpsInputs() != 1 || !consumer.getMatchingIndexingMap(fused).isIdentity() ||
      !findCombiner(consumer) || producer.getNumParallelLoops() != producer.getNumLoops())
    return false;
  auto isPlain = [](Operation &op) {
    return isa<arith::ConstantOp>(op) || (op.getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(&op));
  };
  auto body = producer.getBody()->without_terminator();
  bool isProduct = producer.getNumDpsInputs() > 1 && llvm::hasSingleElement(body) && isa<arith::MulFOp>(*body.begin());
  return !isProduct && llvm::all_of(body, isPlain) && llvm::none_of(producer->getOperandTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isInteger(1);
  }) && llvm::all_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    return !isa<ShapedType>(input->get().getType()) || followsLoops(producer.getMatchingIndexingMap(input));
  });
}

namespace {
struct FuseElementwisePass : inlay::impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, pays);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, pays);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
    // Last, because a reduction takes only one producer.
    RewritePatternSet reductions(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(reductions, paysForReduction);
    (void)applyPatternsGreedily(getOperation(), std::move(reductions));
  }
};
} // namespace
