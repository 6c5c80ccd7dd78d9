// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills tensors with random numbers and compares them.

#ifndef INLAY_LIB_REWRITE_CHECK_TENSORDATA_H
#define INLAY_LIB_REWRITE_CHECK_TENSORDATA_H

#include "Random.h"

#include "inlay/Rewrite/GraphRunner.h"

#include <optional>

namespace inlay {

/// Distribution of the elements of a tensor.
enum class Fill {
  Plain,   ///< Magnitudes around 1.
  Small,   ///< Magnitudes around 1e-3.
  Large,   ///< Magnitudes around 10.
  Zeros,   ///< Half of the elements are zero.
  Special, ///< Some elements are NaN, infinite or zero.
};

/// Returns true if elements of `type` can be drawn and compared: floats of 16 to 64 bits and integers of up to 64 bits.
bool isComparable(mlir::Type type);

/// Returns a tensor of zeros. `type` must be static and comparable.
HostTensor makeTensor(mlir::RankedTensorType type);
void fill(HostTensor &tensor, Fill what, Random &random);

/// Returns the tensor as the attribute of a constant.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor);

struct Difference {
  std::vector<int64_t> place;
  double expected, got;
};

/// Returns the first element of `got` that differs from `expected` by more than rounding and a relative error of
/// `slack`. NaN equals NaN.
std::optional<Difference> compare(const HostTensor &expected, const HostTensor &got, double slack);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_TENSORDATA_H
