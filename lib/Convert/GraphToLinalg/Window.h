// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sliding windows over the trailing dims, for convolution and pooling.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H

#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

namespace inlay {

/// A window over the spatial dims, which start at dim 2. All members have one number per spatial dim. `outputs` are the
/// numbers of windows, or dynamic if unknown.
struct Window {
  llvm::ArrayRef<int64_t> kernel, stride, padding, dilation;
  llvm::SmallVector<int64_t> outputs;

  /// Returns the number of elements by which the last window along dim `i` reaches beyond the `size` elements of the
  /// input. Returns the padding if the size is dynamic.
  int64_t getHighPadding(unsigned i, int64_t size) const;
  /// Returns the output sizes of the window's dims. `input` is the tensor before padding.
  Sizes getOutputSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input) const;
  /// Refuses `op` if its padded input would have too many elements to count in 64 bits.
  mlir::LogicalResult checkPadded(mlir::RewriterBase &rewriter, mlir::Operation *op, mlir::Value input) const;
  /// Pads the trailing dims of the input with `value` as far as windows reach.
  mlir::Value pad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::TypedAttr value) const;
  /// Returns the position along dim `i` in the padded input of element `position` of window `output`.
  mlir::AffineExpr locate(unsigned i, mlir::AffineExpr output, mlir::AffineExpr position) const {
    return output * stride[i] + position * dilation[i];
  }
};

/// Pads each dim of `input` with `low` elements before it and `high` elements after it. `outside` emits their value.
/// One parallel generic reads the input or emits the padding, so no buffer is filled first and then overwritten.
mlir::Value padWith(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> low,
                    llvm::ArrayRef<int64_t> high, ScalarBody outside);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_WINDOW_H
