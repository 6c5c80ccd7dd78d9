// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Difference: the distance between two results that should be equal.

#ifndef INLAY_RUNTIME_LOADER_DIFFERENCE_H
#define INLAY_RUNTIME_LOADER_DIFFERENCE_H

#include "inlay/Runtime/Core/Program.h"

namespace inlay::rt {

/// Returns element `number` of a dense tensor without rounding.
long double elementAt(const TensorView &tensor, size_t number);

/// The largest difference over all results that were added.
struct Difference {
  double absolute = 0; ///< Infinite if one value is NaN or infinite and the other is not the same.
  double relative = 0; ///< `absolute` divided by the largest expected element of the same result.

  /// Adds one result. Both tensors are dense and have the same type and dims.
  void add(const TensorView &actual, const TensorView &expected);
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_DIFFERENCE_H
