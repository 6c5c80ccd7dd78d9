// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches the inner loops of products of integers, which are in IntegerTile.inc. Kernels/IntegerProduct.cpp has the
// slices and threads. An instruction that multiplies bytes saturates its sums of two products on processors without
// VNNI, so all processors multiply integers of 16 bits.

#include "IntegerTile.h"
#include "Simd.h"

#include <algorithm>
#if INLAY_X86
#include <immintrin.h>
#endif

namespace inlay::rt::host {

/// Returns the two integers at `from` in the bits of one.
static INLAY_INLINE int32_t loadPair(const int16_t *from) {
  int32_t pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

} // namespace inlay::rt::host

#define INLAY_PER_TARGET "IntegerTile.inc"
#include "PerTarget.inc"

namespace inlay::rt::host {

void multiplyIntegers(const int16_t *const *rows, int64_t count, const IntegerRun *runs, int64_t runCount,
                      const int8_t *panel, int32_t *sums) {
  INLAY_DISPATCH(multiplyIntegers, (rows, count, runs, runCount, panel, sums))
}

void centerCodes(const uint8_t *codes, int64_t count, bool isSigned, int32_t zero, int16_t *to, int64_t toStep) {
  INLAY_DISPATCH(centerCodes, (codes, count, isSigned, zero, to, toStep))
}

void centerChannels(const uint8_t *codes, int64_t channels, int64_t channelStep, int64_t positions, bool isSigned,
                    int32_t zero, int16_t *to, int64_t pitch) {
  INLAY_DISPATCH(centerChannels, (codes, channels, channelStep, positions, isSigned, zero, to, pitch))
}

void scaleSums(const int32_t *sums, float rowScale, const float *scales, float *to) {
  INLAY_DISPATCH(scaleSums, (sums, rowScale, scales, to))
}

void quantizeCodes(const float *from, int64_t count, const CodeFormat &format, uint8_t *to) {
  INLAY_DISPATCH(quantizeCodes, (from, count, format, to))
}

} // namespace inlay::rt::host
