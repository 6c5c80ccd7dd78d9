// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on vectors, in f32 and without tables. NaN gives NaN.
//
// exp reduces its argument by multiples of ln 2 split in two (Cody and Waite, "Software Manual for the Elementary
// Functions", 1980) and takes the Taylor polynomial of the rest; tanh near 0 is the polynomial of Cephes' tanhf; erf is
// formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions".

#ifndef INLAY_LIB_RUNTIME_HOST_SIMDMATH_H
#define INLAY_LIB_RUNTIME_HOST_SIMDMATH_H

#include "Simd.h"

namespace inlay::rt::host {

/// Within 2 ulp; 0 below the smallest denormal number, infinity above the largest number.
static INLAY_INLINE Vector exponential(Vector x) {
  constexpr float kMost = 89.0f, kLeast = -104.0f;
  Vector bounded = select(x > broadcast(kMost), broadcast(kMost), x);
  bounded = select(bounded < broadcast(kLeast), broadcast(kLeast), bounded);
  bounded = select(x != x, Vector{}, bounded);
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
  Vector shifted = bounded * 1.44269504f + 12582912.0f;
  Vector multiple = shifted - 12582912.0f;
  Vector rest = bounded - multiple * 0.693359375f;
  rest = rest + multiple * 2.12194440e-4f;
  Vector sum = broadcast(1.0f / 5040);
  sum = sum * rest + 1.0f / 720;
  sum = sum * rest + 1.0f / 120;
  sum = sum * rest + 1.0f / 24;
  sum = sum * rest + 1.0f / 6;
  sum = sum * rest + 0.5f;
  sum = sum * rest + 1.0f;
  sum = sum * rest + 1.0f;
  // Two factors, as 2^multiple alone may be no normal number.
  IntVector exponent = __builtin_convertvector(multiple, IntVector);
  IntVector half = exponent >> 1;
  Vector first = (Vector)((half + 127) << 23), second = (Vector)((exponent - half + 127) << 23);
  return select(x != x, x, sum * first * second);
}

/// Within 1.5e-7 of erf(x) + 1, and relatively close to it where x is far below 0.
static INLAY_INLINE Vector onePlusErf(Vector x) {
  Vector size = select(x < Vector{}, -x, x);
  Vector t = 1.0f / (1.0f + 0.3275911f * size);
  Vector sum = broadcast(1.061405429f);
  sum = sum * t - 1.453152027f;
  sum = sum * t + 1.421413741f;
  sum = sum * t - 0.284496736f;
  sum = sum * t + 0.254829592f;
  Vector complement = sum * t * exponential(-size * size);
  return select(x < Vector{}, complement, 2.0f - complement);
}

static INLAY_INLINE Vector hyperbolicTangent(Vector x) {
  Vector size = select(x < Vector{}, -x, x);
  Vector far = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  far = select(x < Vector{}, -far, far);
  Vector square = x * x;
  Vector sum = broadcast(-5.70498872745e-3f);
  sum = sum * square + 2.06390887954e-2f;
  sum = sum * square - 5.37397155531e-2f;
  sum = sum * square + 1.33314422036e-1f;
  sum = sum * square - 3.33332819422e-1f;
  return select(size < broadcast(0.625f), sum * square * x + x, far);
}

/// NaN stays, as neither comparison is true.
static INLAY_INLINE Vector clip(Vector x, float low, float high) {
  x = select(x < broadcast(low), broadcast(low), x);
  return select(x > broadcast(high), broadcast(high), x);
}

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SIMDMATH_H
