// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests for tests of policies.

#ifndef INLAY_UNITTESTS_CONVERT_LOOPNESTS_H
#define INLAY_UNITTESTS_CONVERT_LOOPNESTS_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

namespace inlay::testing {

/// Returns C[m, n] += A[m, k] * B[k, n], row-major.
inline LoopNestShape matmul(int64_t m, int64_t n, int64_t k) {
  LoopNestShape shape;
  shape.loops = {{m, false}, {n, false}, {k, true}};
  shape.inputStrides = {{k, 0, 1}, {0, 1, n}};
  shape.outputStrides = {n, 1, 0};
  return shape;
}

} // namespace inlay::testing

#endif // INLAY_UNITTESTS_CONVERT_LOOPNESTS_H
