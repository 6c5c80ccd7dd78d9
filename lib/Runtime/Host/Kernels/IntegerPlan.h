// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IntegerPlan: the sizes of a product or convolution of integers and the layouts of its centered input and packed
// weight.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_INTEGERPLAN_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_INTEGERPLAN_H

#include "ConstantCache.h"
#include "Runtime/Host/Portable/IntegerTile.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// One spatial dim. A product has two dims of size 1.
struct IntegerWindow {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, padding = 0;

  /// Returns the number of input elements, with padding, that windows read.
  int64_t padded() const { return (output - 1) * stride + (kernel - 1) * dilation + 1; }
};

/// Runs whose sum fits 32 bits, and the first byte in a panel for them.
struct IntegerChunk {
  std::vector<IntegerRun> runs;
  int64_t panelOffset;
};

/// A convolution; a product has an image for each row. The centered input is [image, padded y, padded x, channel],
/// where the channels of each group are padded to pairs. A panel has the weights of 16 output channels of a group, by
/// kernel y, kernel x and pair of channels.
struct IntegerPlan {
  IntegerSizes sizes;
  IntegerWindow y, x;

  int64_t groupChannels() const { return (sizes.inputs + 1) / 2 * 2; }
  int64_t channels() const { return sizes.groups * groupChannels(); }
  int64_t outputs() const { return sizes.groups * sizes.outputs; }
  int64_t panels() const { return (sizes.outputs + kPanelColumns - 1) / kPanelColumns; } ///< Of a group.
  int64_t panelBytes() const { return y.kernel * x.kernel * groupChannels() * kPanelColumns; }
  int64_t imageElements() const { return y.padded() * x.padded() * channels(); }
  int64_t places() const { return y.output * x.output; } ///< Of an image of the result.
  bool has(IntegerResult kind) const { return sizes.result == static_cast<int64_t>(kind); }
  bool isProduct() const { return sizes.dims == 0; }
  bool isEmpty() const { return sizes.batch == 0 || places() == 0; }

  /// Returns the runs of a window in chunks whose sums fit 32 bits if no centered code is larger than `largest`.
  std::vector<IntegerChunk> makeChunks(int64_t largest) const;
};

/// Reads and checks the sizes of a call.
StatusOr<IntegerPlan> readIntegerPlan(const int64_t *numbers);

/// Packs the weight into one part: the panels of each group.
Status packIntegers(const IntegerPlan &plan, const uint8_t *codes, Packed &packed);

/// The scales and offsets of the columns of all panels. Packed codes are signed, so offsets of unsigned ones are 128
/// less.
struct ColumnScales {
  std::vector<float> scales, offsets;
  bool hasOffsets = false; ///< False if all offsets are 0.
};

/// `offsets` may be null.
ColumnScales readColumnScales(const IntegerPlan &plan, const float *scales, const void *offsets);

/// Returns element `index` of offsets of a kind, which is an IntegerOffsets; 0 if there are none.
float readOffset(int64_t kind, bool isSigned, const void *offsets, int64_t index);

/// Writes the centered input of one row of an image, `row` of the padded ones, to its place in `to`.
void centerRow(const IntegerPlan &plan, const uint8_t *codes, int32_t zero, int64_t image, int64_t row, int16_t *to);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_INTEGERPLAN_H
