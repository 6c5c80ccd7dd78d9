// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuses chains of elementwise ops into one op with MLIR's fusion patterns. A control function decides when fusion pays.

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

/// Returns true if fusion pays. Fusion into a reduction or a broadcast, or of a producer with several users, would
/// compute the producer more than once per element.
static bool pays(OpOperand *fused) {
  Operation *producer = fused->get().getDefiningOp();
  auto consumer = dyn_cast<linalg::LinalgOp>(fused->getOwner());
  return producer && producer->hasOneUse() && consumer && consumer.getNumReductionLoops() == 0 &&
         (consumer.getMatchingIndexingMap(fused).isPermutation() || isCheap(producer));
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
  }
};
} // namespace
