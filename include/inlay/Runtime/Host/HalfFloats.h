// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between floats and the bits of 16-bit floats. Rounds to nearest, ties to even; NaN stays NaN.

#ifndef INLAY_RUNTIME_HOST_HALFFLOATS_H
#define INLAY_RUNTIME_HOST_HALFFLOATS_H

#include <cstdint>

namespace inlay::rt::host {

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
uint16_t doubleToHalf(double value);

float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);
uint16_t doubleToBfloat(double value);

} // namespace inlay::rt::host

#endif // INLAY_RUNTIME_HOST_HALFFLOATS_H
