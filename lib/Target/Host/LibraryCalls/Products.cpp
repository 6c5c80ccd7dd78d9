// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts matrix products to contractions. Permutations of operands and results become part of the maps.

#include "LibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

using namespace mlir;
using namespace inlay;

namespace {
struct FormMatmulCall : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (failed(checkOperands(rewriter, op)))
      return failure();
    MLIRContext *context = op.getContext();
    RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs()), result = inferResultType(op);
    SmallVector<int64_t> sizes(result.getShape());
    sizes.push_back(lhs.getShape().back());
    if (failed(checkWork(rewriter, op, sizes)))
      return failure();
    // Loops: leading dims, row, column, summation.
    unsigned batch = result.getRank() - 2, loops = batch + 3;
    AffineExpr row = rewriter.getAffineDimExpr(batch), column = rewriter.getAffineDimExpr(batch + 1),
               inner = rewriter.getAffineDimExpr(batch + 2);
    auto makeOperandMap = [&](RankedTensorType type, AffineExpr first, AffineExpr second) {
      SmallVector<AffineExpr> exprs;
      ArrayRef<int64_t> leading = type.getShape().drop_back(2);
      for (auto [i, size] : llvm::enumerate(leading)) {
        unsigned loop = batch - leading.size() + i;
        bool isRepeated = size == 1 && result.getDimSize(loop) != 1;
        exprs.push_back(isRepeated ? getAffineConstantExpr(0, context) : getAffineDimExpr(loop, context));
      }
      exprs.append({first, second});
      return makeMap(context, loops, exprs);
    };
    LibraryCall call(plan::HostKernelKind::contraction);
    addInput(call, op.getLhs(), makeOperandMap(lhs, row, inner));
    addInput(call, op.getRhs(), makeOperandMap(rhs, inner, column));
    call.resultMap = dropLoops(context, loops, batch + 2);
    call.absorbed.push_back(op);
    absorbUsers(call);
    replaceAbsorbed(rewriter, call);
    return success();
  }
};

struct FormLinearCall : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp op, PatternRewriter &rewriter) const override {
    if (failed(checkOperands(rewriter, op)))
      return failure();
    MLIRContext *context = op.getContext();
    SmallVector<int64_t> sizes(tensorType(op.getInput()).getShape());
    unsigned rank = sizes.size();
    sizes.push_back(tensorType(op.getWeight()).getDimSize(0));
    if (failed(checkWork(rewriter, op, sizes)))
      return failure();
    // Loops: leading dims, output feature, summation.
    AffineExpr feature = rewriter.getAffineDimExpr(rank - 1), inner = rewriter.getAffineDimExpr(rank);
    LibraryCall call(plan::HostKernelKind::contraction);
    addInput(call, op.getInput(), dropLoops(context, rank + 1, rank - 1));
    addInput(call, op.getWeight(), makeMap(context, rank + 1, {feature, inner}));
    if (op.getBias()) {
      addInput(call, op.getBias(), makeMap(context, rank + 1, feature));
      call.config.set("bias", rewriter.getUnitAttr());
    }
    call.resultMap = dropLoops(context, rank + 1, rank);
    call.absorbed.push_back(op);
    absorbUsers(call);
    replaceAbsorbed(rewriter, call);
    return success();
  }
};
} // namespace

void inlay::populateLibraryProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FormMatmulCall, FormLinearCall>(patterns.getContext());
}
