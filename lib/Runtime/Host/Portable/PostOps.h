// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows a product, applied to a slice of it while it is in cache. The library's own post-ops are not used: its
// relu and clip drop NaN.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A matrix of an operand; strides count elements and may be 0.
struct PostOperand {
  const float *data = nullptr;
  int64_t row = 0, column = 0;
};

/// Rows of adjacent elements.
struct Tile {
  float *data = nullptr;
  int64_t rows = 0, columns = 0, row = 0;
};

/// Whether a post-op of this kind takes an operand.
inline bool takesOperand(PostOpKind kind) { return kind >= PostOpKind::Add; }

/// Whether that operand has an element for each channel of a convolution.
inline bool isPerChannel(PostOpKind kind) { return kind >= PostOpKind::AddChannels; }

/// How many of a kernel's buffers are biases or operands of post-ops.
size_t countOperands(const HostKernel &kernel);

/// The post-ops with a bias as an addition in front.
std::vector<PostOp> withBias(const HostKernel &kernel);

/// Applies the post-ops in order; `operands` has one for each that takes one.
void applyPostOps(const std::vector<PostOp> &postOps, const PostOperand *operands, const Tile &tile);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H
