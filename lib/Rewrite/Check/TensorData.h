// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers in tensors: drawn, and compared.

#ifndef INLAY_LIB_REWRITE_CHECK_TENSORDATA_H
#define INLAY_LIB_REWRITE_CHECK_TENSORDATA_H

#include "Random.h"

#include "inlay/Rewrite/GraphRunner.h"

#include <optional>

namespace inlay {

/// What a tensor is filled with.
enum class Fill {
  Plain,   ///< about one
  Small,   ///< about a thousandth
  Large,   ///< about ten
  Zeros,   ///< half of them zeros
  Special, ///< some of them NaN, infinities or zeros
};

/// True if elements of `type` can be drawn and compared: floats of 16 to 64 bits, integers of up to 64.
bool isComparable(mlir::Type type);

HostTensor makeTensor(mlir::RankedTensorType type);
void fill(HostTensor &tensor, Fill what, Random &random);

/// As an attribute, for a constant.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor);

struct Difference {
  std::vector<int64_t> place;
  double expected, got;
};

/// The first element of `got` that is further from `expected` than rounding and a relative error of `slack` explain.
/// NaN equals NaN.
std::optional<Difference> compare(const HostTensor &expected, const HostTensor &got, double slack);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_TENSORDATA_H
