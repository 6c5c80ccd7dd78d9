// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts products, convolutions and attention to calls of the host library, together with the ops before and after
// them.

#include "FormLibraryCalls.h"
#include "LibraryCalls.h"
#include "inlay/Target/Host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace inlay {
#define GEN_PASS_DEF_FORMLIBRARYCALLSPASS
#include "inlay/Target/Host/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

void inlay::formLibraryCalls(func::FuncOp func) {
  // Each op is visited once: no op absorbs another one of these, and patterns create none.
  SmallVector<Operation *> products;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, LinearOp, ConvOp, ScaledDotProductAttentionOp>(op))
      products.push_back(op);
  });
  RewritePatternSet patterns(func.getContext());
  populateLibraryAttentionPatterns(patterns);
  populateLibraryConvolutionPatterns(patterns);
  populateLibraryProductPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(func.getContext());
  for (Operation *op : products) {
    rewriter.setInsertionPoint(op);
    (void)applicator.matchAndRewrite(op, rewriter);
  }
  // Erase permutations that have become part of maps.
  SmallVector<PermuteOp> permutes;
  func.walk([&](PermuteOp permute) { permutes.push_back(permute); });
  for (PermuteOp permute : llvm::reverse(permutes)) // A permutation of another one's result is erased first.
    if (permute->use_empty())
      rewriter.eraseOp(permute);
}

namespace {
struct FormLibraryCallsPass : inlay::impl::FormLibraryCallsPassBase<FormLibraryCallsPass> {
  void runOnOperation() override { formLibraryCalls(getOperation()); }
};
} // namespace
