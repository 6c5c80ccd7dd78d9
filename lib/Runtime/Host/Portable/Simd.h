// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiler vectors, and functions that are compiled for several instruction sets. The version that fits the processor
// is chosen at run time. Bodies are inlined into each version.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_SIMD_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_SIMD_H

#include <cstdint>
#include <cstring>

#define INLAY_INLINE inline __attribute__((always_inline))
/// Marks a lambda like INLAY_INLINE marks a function.
#define INLAY_LAMBDA __attribute__((always_inline))

#if defined(__x86_64__)
#define INLAY_X86 1
#define INLAY_TARGET_V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define INLAY_TARGET_V3 __attribute__((target("arch=x86-64-v3")))
#else
#define INLAY_X86 0
#endif

namespace inlay::rt::host {

enum class SimdLevel : uint8_t { Baseline, V3, V4 };

/// Returns the widest level that this processor supports.
inline SimdLevel simdLevel() {
#if INLAY_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return SimdLevel::V4;
  bool hasV3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return hasV3 ? SimdLevel::V3 : SimdLevel::Baseline;
#else
  return SimdLevel::Baseline;
#endif
}

/// Defines a static `void name(parameters)` that calls `body arguments` in the version for this processor. `body` must
/// be INLAY_INLINE.
#if INLAY_X86
#define INLAY_MULTIVERSION(name, parameters, body, arguments)                                                          \
  INLAY_TARGET_V4 static void name##V4 parameters { body arguments; }                                                  \
  INLAY_TARGET_V3 static void name##V3 parameters { body arguments; }                                                  \
  static void name##Baseline parameters { body arguments; }                                                            \
  static void name parameters {                                                                                        \
    switch (simdLevel()) {                                                                                             \
    case SimdLevel::V4:                                                                                                \
      return name##V4 arguments;                                                                                       \
    case SimdLevel::V3:                                                                                                \
      return name##V3 arguments;                                                                                       \
    case SimdLevel::Baseline:                                                                                          \
      return name##Baseline arguments;                                                                                 \
    }                                                                                                                  \
  }
#else
#define INLAY_MULTIVERSION(name, parameters, body, arguments)                                                          \
  static void name parameters { body arguments; }
#endif

/// Number of elements of a vector, whatever the width of the processor's vectors.
constexpr int64_t kLanes = 16;

/// Calls `function arguments` in the version for this processor. PerTarget.inc defines the versions.
#if INLAY_X86
#define INLAY_DISPATCH(function, arguments)                                                                            \
  switch (simdLevel()) {                                                                                               \
  case SimdLevel::V4:                                                                                                  \
    return v4::function arguments;                                                                                     \
  case SimdLevel::V3:                                                                                                  \
    return v3::function arguments;                                                                                     \
  case SimdLevel::Baseline:                                                                                            \
    return baseline::function arguments;                                                                               \
  }
#else
#define INLAY_DISPATCH(function, arguments) return baseline::function arguments;
#endif

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_SIMD_H
