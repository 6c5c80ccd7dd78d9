// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the external functions of host code, with their addresses. Support/HalfFloats.cpp implements the conversions
// of 16-bit floats.

#include "Imports.h"
#include "inlay/Runtime/Core/LazyStatic.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace inlay::rt::host {

//===-- Half floats ---------------------------------------------------------------------------------------------===//
// Half floats are passed in the low 16 bits of the register for floats, on x86-64 and on AArch64.

static float fromBits(uint16_t bits) {
  uint32_t word = bits;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

static uint16_t toBits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof(word));
  return static_cast<uint16_t>(word);
}

static float extendHalf(float half) { return halfToFloat(toBits(half)); }
static float truncateToHalf(float value) { return fromBits(floatToHalf(value)); }
static float truncateDoubleToHalf(double value) { return fromBits(doubleToHalf(value)); }
static float truncateToBfloat(float value) { return fromBits(floatToBfloat(value)); }
static float truncateDoubleToBfloat(double value) { return fromBits(doubleToBfloat(value)); }

//===-- The list ------------------------------------------------------------------------------------------------===//

using Unary = double (*)(double);
using UnaryFloat = float (*)(float);
using Binary = double (*)(double, double);
using BinaryFloat = float (*)(float, float);

template <typename Function>
static uint64_t addressOf(Function *function) {
  return reinterpret_cast<uint64_t>(function);
}

// A function of libm for doubles and its variant for floats.
#define INLAY_LIBM(kind, name)                                                                                         \
  {#name, addressOf(static_cast<kind>(::name))}, { #name "f", addressOf(static_cast<kind##Float>(::name##f)) }

static std::unordered_map<std::string_view, uint64_t> makeImports() {
  return {
      INLAY_LIBM(Unary, acos),
      INLAY_LIBM(Unary, acosh),
      INLAY_LIBM(Unary, asin),
      INLAY_LIBM(Unary, asinh),
      INLAY_LIBM(Unary, atan),
      INLAY_LIBM(Unary, atanh),
      INLAY_LIBM(Unary, cbrt),
      INLAY_LIBM(Unary, ceil),
      INLAY_LIBM(Unary, cos),
      INLAY_LIBM(Unary, cosh),
      INLAY_LIBM(Unary, erf),
      INLAY_LIBM(Unary, erfc),
      INLAY_LIBM(Unary, exp),
      INLAY_LIBM(Unary, exp2),
      INLAY_LIBM(Unary, expm1),
      INLAY_LIBM(Unary, fabs),
      INLAY_LIBM(Unary, floor),
      INLAY_LIBM(Unary, lgamma),
      INLAY_LIBM(Unary, log),
      INLAY_LIBM(Unary, log10),
      INLAY_LIBM(Unary, log1p),
      INLAY_LIBM(Unary, log2),
      INLAY_LIBM(Unary, logb),
      INLAY_LIBM(Unary, nearbyint),
      INLAY_LIBM(Unary, rint),
      INLAY_LIBM(Unary, round),
      INLAY_LIBM(Unary, roundeven),
      INLAY_LIBM(Unary, sin),
      INLAY_LIBM(Unary, sinh),
      INLAY_LIBM(Unary, sqrt),
      INLAY_LIBM(Unary, tan),
      INLAY_LIBM(Unary, tanh),
      INLAY_LIBM(Unary, tgamma),
      INLAY_LIBM(Unary, trunc),
      INLAY_LIBM(Binary, atan2),
      INLAY_LIBM(Binary, copysign),
      INLAY_LIBM(Binary, fdim),
      INLAY_LIBM(Binary, fmax),
      INLAY_LIBM(Binary, fmin),
      INLAY_LIBM(Binary, fmod),
      INLAY_LIBM(Binary, hypot),
      INLAY_LIBM(Binary, nextafter),
      INLAY_LIBM(Binary, pow),
      INLAY_LIBM(Binary, remainder),
      {"fma", addressOf(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", addressOf(static_cast<float (*)(float, float, float)>(::fmaf))},
      {"ldexp", addressOf(static_cast<double (*)(double, int)>(::ldexp))},
      {"ldexpf", addressOf(static_cast<float (*)(float, int)>(::ldexpf))},
      {"frexp", addressOf(static_cast<double (*)(double, int *)>(::frexp))},
      {"frexpf", addressOf(static_cast<float (*)(float, int *)>(::frexpf))},
      {"modf", addressOf(static_cast<double (*)(double, double *)>(::modf))},
      {"modff", addressOf(static_cast<float (*)(float, float *)>(::modff))},
      {"sincos", addressOf(static_cast<void (*)(double, double *, double *)>(::sincos))},
      {"sincosf", addressOf(static_cast<void (*)(float, float *, float *)>(::sincosf))},
      {"memcmp", addressOf(&std::memcmp)},
      {"bcmp", addressOf(&std::memcmp)}, // its contract is weaker
      {"memcpy", addressOf(&std::memcpy)},
      {"memmove", addressOf(&std::memmove)},
      {"memset", addressOf(&std::memset)},
      {"malloc", addressOf(&std::malloc)},
      {"aligned_alloc", addressOf(&std::aligned_alloc)},
      {"free", addressOf(&std::free)},
      {"__extendhfsf2", addressOf(&extendHalf)},
      {"__gnu_h2f_ieee", addressOf(&halfToFloat)}, // the older ABI, which passes halves as integers
      {"__gnu_f2h_ieee", addressOf(&floatToHalf)},
      {"__truncsfhf2", addressOf(&truncateToHalf)},
      {"__truncdfhf2", addressOf(&truncateDoubleToHalf)},
      {"__truncsfbf2", addressOf(&truncateToBfloat)},
      {"__truncdfbf2", addressOf(&truncateDoubleToBfloat)},
  };
}

#undef INLAY_LIBM

uint64_t findImport(std::string_view name) {
  static LazyStatic<std::unordered_map<std::string_view, uint64_t>> made;
  const auto &imports = made.get(makeImports);
  auto entry = imports.find(name);
  return entry == imports.end() ? 0 : entry->second;
}

} // namespace inlay::rt::host
