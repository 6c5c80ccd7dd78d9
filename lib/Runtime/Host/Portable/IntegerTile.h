// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inner loops of products of integers: centered codes of 16 bits times panels of codes of 8 bits, with sums of 32 bits.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_INTEGERTILE_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_INTEGERTILE_H

#include <cstdint>

namespace inlay::rt::host {

/// Number of columns of a panel.
constexpr int64_t kPanelColumns = 16;
/// Number of elements of a panel for a pair of rows of W: (column 0, row 0), (column 0, row 1), (column 1, row 0), ...
constexpr int64_t kPanelPair = 2 * kPanelColumns;
/// Number of rows that `multiplyIntegers` takes at most.
constexpr int64_t kIntegerRows = 12;

/// Elements of each row of X that are neighbors: `pairs` pairs from element `offset` on.
struct IntegerRun {
  int64_t offset, pairs;
};

/// Sets sums[row * kPanelColumns + column] to the product of the runs of `rows[row]` and a panel. Nothing saturates:
/// the caller ensures that the sums fit.
void multiplyIntegers(const int16_t *const *rows, int64_t count, const IntegerRun *runs, int64_t runCount,
                      const int8_t *panel, int32_t *sums);

/// Sets to[i * toStep] to code i minus `zero`.
void centerCodes(const uint8_t *codes, int64_t count, bool isSigned, int32_t zero, int16_t *to, int64_t toStep);

/// Sets to[position * pitch + channel] to code [channel][position] minus `zero`. `channelStep` is the distance between
/// the codes of two channels.
void centerChannels(const uint8_t *codes, int64_t channels, int64_t channelStep, int64_t positions, bool isSigned,
                    int32_t zero, int16_t *to, int64_t pitch);

/// Sets to[column] to sums[column] * (rowScale * scales[column]) for the columns of a panel.
void scaleSums(const int32_t *sums, float rowScale, const float *scales, float *to);

/// The scale, offset and limits of `inlay.quantize` with one scale.
struct CodeFormat {
  float scale, offset;
  float low, high;
  bool isInverse; ///< True if `scale` is the inverse.
};

void quantizeCodes(const float *from, int64_t count, const CodeFormat &format, uint8_t *to);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_INTEGERTILE_H
