// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts ops that turn sizes into values of the graph.

#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace inlay;

namespace {
struct ConvertSize : GraphToLinalgPattern<SizeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(SizeOp op, PatternRewriter &rewriter) const override {
    OpFoldResult number = materializeExpr(rewriter, op.getLoc(), op.getSizes().getResult(0));
    return createPointwise(rewriter, op.getLoc(), {}, {}, {}, rewriter.getI64Type(),
                           [&](OpBuilder &builder, Location loc, ValueRange) {
                             return castSize(builder, loc, number, builder.getI64Type());
                           });
  }
};

struct ConvertIota : GraphToLinalgPattern<IotaOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(IotaOp op, PatternRewriter &rewriter) const override {
    Sizes sizes{materializeExpr(rewriter, op.getLoc(), op.getSizes().getResult(0))};
    return createPointwise(rewriter, op.getLoc(), {}, {}, sizes, rewriter.getI64Type(),
                           [](OpBuilder &builder, Location loc, ValueRange) -> Value {
                             Value at = linalg::IndexOp::create(builder, loc, 0);
                             return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
                           });
  }
};
} // namespace

void inlay::populateSizePatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertSize, ConvertIota>(patterns.getContext());
}
