// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The base class of the patterns that convert graph ops, and the checks that they share. The base class checks the
// element types first and restores the result type last.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H
#define INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H

#include "inlay/Convert/GraphToLinalg/Refuse.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// Refuses an op unless all its operands and results are ranked tensors without an encoding, with element types that
/// scalar code supports.
mlir::LogicalResult checkTensorTypes(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// Refuses an op if the elements of `value` are not floats. With `integers`, integers wider than one bit are accepted
/// too.
mlir::LogicalResult checkElements(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value, bool integers);

/// Refuses an op if dim `dim` of `value` is dynamic.
mlir::LogicalResult checkStaticDim(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value, int64_t dim);

/// Returns the sizes of the op's only result, or nullopt if they are unknown.
std::optional<llvm::SmallVector<mlir::OpFoldResult>> findResultSizes(mlir::OpBuilder &builder, mlir::Operation *op);

/// Returns the sizes of the op's only result. Refuses the op if they are unknown.
mlir::FailureOr<llvm::SmallVector<mlir::OpFoldResult>> getResultSizes(mlir::RewriterBase &rewriter,
                                                                      mlir::Operation *op);

/// Replaces the op's only result by `value`. Casts `value` if the types differ in which dims are static.
void replaceWithRefined(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value value);

/// Returns the result type that the operands and attributes imply. The op's own result type may differ in which dims
/// are static.
mlir::RankedTensorType inferResultType(mlir::Operation *op);

/// Returns the spelling of `type` for messages.
std::string spell(mlir::Type type);

/// The base class of patterns that convert an `Op` with one result.
template <typename Op>
struct GraphToLinalgPattern : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  /// Returns the value that replaces the op. On failure, the pattern has called `refuseOp` and has emitted nothing.
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

/// Each of these functions adds the patterns for one family of ops.
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateConvolutionPatterns(mlir::RewritePatternSet &patterns);
void populateIndexingPatterns(mlir::RewritePatternSet &patterns);
void populateLayoutPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
void populatePointwisePatterns(mlir::RewritePatternSet &patterns);
void populatePoolingPatterns(mlir::RewritePatternSet &patterns);
void populateProductPatterns(mlir::RewritePatternSet &patterns);
void populateQuantizationPatterns(mlir::RewritePatternSet &patterns);
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
void populateScanPatterns(mlir::RewritePatternSet &patterns);
void populateScatteringPatterns(mlir::RewritePatternSet &patterns);
void populateSizePatterns(mlir::RewritePatternSet &patterns);
void populateSortingPatterns(mlir::RewritePatternSet &patterns);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_GRAPHTOLINALGPATTERN_H
