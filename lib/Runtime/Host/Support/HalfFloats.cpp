// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between f32, f64 and the 16-bit floats f16 and bf16. Compiled host code calls these functions through the
// linker's imports.

#include "inlay/Runtime/Host/HalfFloats.h"

#include <cmath>
#include <cstring>

namespace inlay::rt::host {

template <typename To, typename From>
static To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From), "");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

namespace {
/// A 16-bit format: a sign, an exponent and `fraction` bits.
struct Format {
  int fraction; ///< Number of bits of the fraction.
  int bias;     ///< Bias of the exponent.
};
} // namespace

static constexpr Format kHalf = {10, 15}, kBfloat = {7, 127};

/// Rounds a double once to the format.
static uint16_t narrow(double value, Format format) {
  auto bits = bitCast<uint64_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  auto infinity = static_cast<uint16_t>(0x7fff >> format.fraction << format.fraction);
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | infinity | static_cast<uint16_t>(1 << (format.fraction - 1));
  if (std::isinf(value))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  // In units of the last place. Below the smallest normal number the unit stays that of the smallest normal number.
  int exponent = std::ilogb(magnitude), minExponent = 1 - format.bias;
  if (exponent > format.bias)
    return sign | infinity;
  int unit = (exponent < minExponent ? minExponent : exponent) - format.fraction;
  double scaled = std::ldexp(magnitude, -unit), whole = std::floor(scaled), rest = scaled - whole;
  auto steps = static_cast<uint32_t>(whole);
  steps += rest > 0.5 || (rest == 0.5 && (steps & 1));
  // A carry out of the fraction increments the exponent, which the encoding handles without extra work.
  uint32_t base = exponent < minExponent ? 0 : static_cast<uint32_t>(exponent + format.bias - 1) << format.fraction;
  uint32_t result = base + steps;
  return sign | (result > infinity ? infinity : static_cast<uint16_t>(result));
}

float halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  if (exponent == 0x1f)
    return bitCast<float>(sign | 0x7f800000u | uint32_t(fraction) << 13);
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                  : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  return sign ? -magnitude : magnitude;
}

uint16_t floatToHalf(float value) { return narrow(value, kHalf); }
uint16_t doubleToHalf(double value) { return narrow(value, kHalf); }

float bfloatToFloat(uint16_t bits) { return bitCast<float>(uint32_t(bits) << 16); }
uint16_t floatToBfloat(float value) {
  auto bits = bitCast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40); // without the bit the upper half of a NaN might be an infinity
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
uint16_t doubleToBfloat(double value) { return narrow(value, kBfloat); }

} // namespace inlay::rt::host
