// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows sliding over the trailing dims, as convolution and pooling share them.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H

#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// A window over the dims from 2 on. `outputs` are the numbers of windows, dynamic where unknown.
struct Window {
  llvm::ArrayRef<int64_t> kernel, stride, padding, dilation;
  llvm::SmallVector<int64_t> outputs;

  /// What dim `i`'s last window covers beyond the input's `size` elements; the padding, if the size is dynamic.
  int64_t getHighPadding(unsigned i, int64_t size) const;
  /// The sizes of the window's dims in the output, for an input that isn't padded yet.
  Sizes getOutputSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input) const;
  /// Refuses `op` if its padded input would have more elements than can be counted.
  mlir::LogicalResult checkPadded(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value input) const;
  /// The input with `value` around its trailing dims, as far as windows reach.
  mlir::Value pad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::TypedAttr value) const;
  /// Where the window of `output` has element `position` along dim `i`.
  mlir::AffineExpr locate(unsigned i, mlir::AffineExpr output, mlir::AffineExpr position) const {
    return output * stride[i] + position * dilation[i];
  }
};

/// `input` with `low` elements of what `outside` emits before and `high` after each dim: one parallel generic that
/// reads the input where there is one, so that nothing is filled first and copied into.
mlir::Value padWith(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> low,
                    llvm::ArrayRef<int64_t> high, ScalarBody outside);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H
