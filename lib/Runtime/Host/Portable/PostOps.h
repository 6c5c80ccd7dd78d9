// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Post-ops of a product, applied to a slice of it while it is in cache. oneDNN's post-ops are not used, because its
// relu and clip drop NaN.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A matrix operand. Strides count elements and may be 0.
struct PostOperand {
  const float *data = nullptr;
  int64_t row = 0, column = 0;
};

/// A matrix whose rows have adjacent elements.
struct Tile {
  float *data = nullptr;
  int64_t rows = 0, columns = 0, row = 0;
};

/// Returns true if a post-op of this kind takes an operand.
inline bool takesOperand(PostOpKind kind) { return kind >= PostOpKind::Add; }

/// Returns true if that operand has one element per channel of a convolution.
inline bool isPerChannel(PostOpKind kind) { return kind >= PostOpKind::AddChannels; }

/// Returns the number of a kernel's buffers that are biases or operands of post-ops.
size_t countOperands(const HostKernel &kernel);

/// Returns the post-ops, with the bias as an addition in front.
std::vector<PostOp> withBias(const HostKernel &kernel);

/// Applies the post-ops in order. `operands` has an element for each post-op that takes one.
void applyPostOps(const std::vector<PostOp> &postOps, const PostOperand *operands, const Tile &tile);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_POSTOPS_H
