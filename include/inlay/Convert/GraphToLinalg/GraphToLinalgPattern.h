// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of every pattern from a graph op: element types checked first, the op's result type restored last.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H
#define INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H

#include "inlay/Convert/GraphToLinalg/Reject.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Refuses ops with an operand or result that isn't a plain tensor of a type that scalar code can be made for.
mlir::LogicalResult checkTensorTypes(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// Refuses ops on `value` unless its elements are floats, or also integers wider than a bit if `integers`.
mlir::LogicalResult checkElements(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value, bool integers);

/// Refuses ops with an operand whose dims aren't all known.
mlir::LogicalResult checkStatic(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// Refuses ops if dim `dim` of `value` isn't known.
mlir::LogicalResult checkStaticDim(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value, int64_t dim);

/// The sizes of the op's only result; nullopt if nothing says them.
std::optional<llvm::SmallVector<mlir::OpFoldResult>> findResultSizes(mlir::OpBuilder &builder, mlir::Operation *op);

/// The sizes of the op's only result; refuses the op if nothing says them.
mlir::FailureOr<llvm::SmallVector<mlir::OpFoldResult>> getResultSizes(mlir::RewriterBase &rewriter,
                                                                      mlir::Operation *op);

/// Replaces the op's only result by `value`, cast to the result's type if that knows more or fewer dims.
void replaceWithRefined(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value);

/// The result type that operands and attributes imply; the op may say it with other dims known.
mlir::RankedTensorType inferResultType(mlir::Operation *op);

/// `type` as messages spell it.
std::string spell(mlir::Type type);

/// A pattern that converts `Op`'s only result.
template <typename Op>
struct GraphToLinalgPattern : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  /// The value that replaces the op; failure, after `rejectOp` and with nothing emitted, if there is none.
  virtual mlir::FailureOr<mlir::Value> convert(Op op, mlir::PatternRewriter &rewriter) const = 0;

  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const final {
    if (failed(checkTensorTypes(rewriter, op)))
      return mlir::failure();
    mlir::FailureOr<mlir::Value> value = convert(op, rewriter);
    if (failed(value))
      return mlir::failure();
    replaceWithRefined(rewriter, op, *value);
    return mlir::success();
  }
};

void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateConvolutionPatterns(mlir::RewritePatternSet &patterns);
void populateIndexingPatterns(mlir::RewritePatternSet &patterns);
void populateLayoutPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
void populatePointwisePatterns(mlir::RewritePatternSet &patterns);
void populatePoolingPatterns(mlir::RewritePatternSet &patterns);
void populateProductPatterns(mlir::RewritePatternSet &patterns);
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
void populateScanPatterns(mlir::RewritePatternSet &patterns);
void populateScatteringPatterns(mlir::RewritePatternSet &patterns);
void populateSizePatterns(mlir::RewritePatternSet &patterns);
void populateSortingPatterns(mlir::RewritePatternSet &patterns);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H
