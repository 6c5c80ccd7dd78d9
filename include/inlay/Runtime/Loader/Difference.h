// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far two results that should be the same are apart.

#ifndef INLAY_RUNTIME_LOADER_DIFFERENCE_H
#define INLAY_RUNTIME_LOADER_DIFFERENCE_H

#include "inlay/Runtime/Core/Program.h"

namespace inlay::rt {

/// Element `number` of a dense tensor, exactly.
long double elementAt(const TensorView &tensor, size_t number);

/// The largest difference over all results that were added.
struct Difference {
  double absolute = 0; ///< infinite if one is NaN or infinite and the other isn't the same
  double relative = 0; ///< that by the largest expected element of the same result

  /// Both are dense, of the same type and dims.
  void add(const TensorView &actual, const TensorView &expected);
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_DIFFERENCE_H
