// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans products and convolutions of integers, packs their weights and centers their inputs. IntegerProduct.cpp runs
// them.

#include "IntegerPlan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace inlay::rt::host {

/// Number of numbers per spatial dim.
static constexpr int64_t kWindowNumbers = 6;

//===-- Sizes ---------------------------------------------------------------------------------------------------===//

static bool areValid(const IntegerSizes &sizes) {
  auto isIn = [](int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; };
  auto isOffsets = [&](int64_t value) { return isIn(value, 0, static_cast<int64_t>(IntegerOffsets::Codes)); };
  int64_t least = sizes.isResultSigned ? -128 : 0;
  return sizes.batch >= 0 && sizes.groups >= 1 && sizes.inputs >= 1 && sizes.outputs >= 1 && isIn(sizes.dims, 0, 2) &&
         isOffsets(sizes.inputOffsets) && isOffsets(sizes.weightOffsets) && isOffsets(sizes.resultOffsets) &&
         isIn(sizes.result, 0, static_cast<int64_t>(IntegerResult::Codes)) && isIn(sizes.low, least, sizes.high) &&
         sizes.high <= least + 255 && (sizes.dims == 0 || !(sizes.isPerRow || sizes.isWeightTransposed));
}

static IntegerWindow readWindow(const int64_t *numbers) {
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

StatusOr<IntegerPlan> readIntegerPlan(const int64_t *numbers) {
  IntegerPlan plan{};
  std::memcpy(&plan.sizes, numbers, sizeof(plan.sizes));
  bool isValid = areValid(plan.sizes);
  int64_t count = kIntegerSizes + (isValid ? plan.sizes.dims * kWindowNumbers : 0);
  if (isValid) {
    if (plan.sizes.dims == 2)
      plan.y = readWindow(numbers + kIntegerSizes);
    if (plan.sizes.dims > 0)
      plan.x = readWindow(numbers + count - kWindowNumbers);
    for (const IntegerWindow &window : {plan.y, plan.x})
      isValid = isValid && window.input >= 0 && window.output >= 0 && window.kernel >= 1 && window.stride >= 1 &&
                window.dilation >= 1 && window.padding >= 0;
  }
  if (isValid)
    return plan;
  return Status(StatusCode::InvalidArgument, fmt::format("expected the sizes of a product of integers, but got [{}]",
                                                         fmt::join(numbers, numbers + count, ", ")));
}

std::vector<IntegerChunk> IntegerPlan::makeChunks(int64_t largest) const {
  constexpr int64_t kLargestWeight = 128;
  int64_t most = std::numeric_limits<int32_t>::max() / (2 * kLargestWeight * std::max<int64_t>(largest, 1));
  // The elements of neighboring places are neighbors if there is one group.
  bool isJoined = sizes.groups == 1 && x.dilation == 1;
  int64_t runsPerRow = isJoined ? 1 : x.kernel, pairs = groupChannels() / 2 * (isJoined ? x.kernel : 1);
  std::vector<IntegerChunk> chunks;
  int64_t room = 0, done = 0; // Pairs that the last chunk has room for, and pairs before the next run.
  for (int64_t row = 0; row < y.kernel; ++row)
    for (int64_t run = 0; run < runsPerRow; ++run) {
      int64_t offset = (row * y.dilation * x.padded() + run * x.dilation) * channels();
      for (int64_t begin = 0; begin < pairs;) {
        if (room == 0) {
          chunks.push_back({{}, done * kPanelPair});
          room = most;
        }
        int64_t count = std::min(pairs - begin, room);
        chunks.back().runs.push_back({offset + 2 * begin, count});
        begin += count;
        done += count;
        room -= count;
      }
    }
  return chunks;
}

//===-- Weights -------------------------------------------------------------------------------------------------===//

float readOffset(int64_t kind, bool isSigned, const void *offsets, int64_t index) {
  switch (static_cast<IntegerOffsets>(kind)) {
  case IntegerOffsets::None:
    return 0;
  case IntegerOffsets::Floats:
    return static_cast<const float *>(offsets)[index];
  case IntegerOffsets::Codes:
    return isSigned ? static_cast<float>(static_cast<const int8_t *>(offsets)[index])
                    : static_cast<float>(static_cast<const uint8_t *>(offsets)[index]);
  }
  return 0;
}

/// Writes the panel of the output channels from `first` on, which are `count` of a group.
static void packPanel(const IntegerPlan &plan, const uint8_t *codes, int64_t first, int64_t count, int8_t *panel) {
  int64_t window = plan.y.kernel * plan.x.kernel, inputs = plan.sizes.inputs;
  int64_t columnStep = plan.sizes.isWeightTransposed ? 1 : inputs * window;
  int64_t inputStep = plan.sizes.isWeightTransposed ? plan.outputs() : window;
  uint8_t flip = plan.sizes.isWeightSigned ? 0 : 128; // Turns an unsigned code into a signed one that is 128 less.
  for (int64_t place = 0; place < window; ++place)
    for (int64_t input = 0; input < plan.groupChannels(); ++input)
      for (int64_t column = 0; column < kPanelColumns; ++column) {
        int64_t element = (place * plan.groupChannels() + input) / 2 * kPanelPair + 2 * column + input % 2;
        bool isPadding = column >= count || input >= inputs;
        uint8_t code = isPadding ? 0 : codes[(first + column) * columnStep + input * inputStep + place] ^ flip;
        panel[element] = static_cast<int8_t>(code);
      }
}

Status packIntegers(const IntegerPlan &plan, const uint8_t *codes, Packed &packed) {
  int64_t panels = plan.sizes.groups * plan.panels();
  packed.push_back(allocate(static_cast<size_t>(panels * plan.panelBytes())));
  if (!packed[0])
    return {StatusCode::ResourceExhausted, "no memory for packed weights"};
  for (int64_t panel = 0; panel < panels; ++panel) {
    int64_t begin = panel % plan.panels() * kPanelColumns;
    packPanel(plan, codes, panel / plan.panels() * plan.sizes.outputs + begin,
              std::min(kPanelColumns, plan.sizes.outputs - begin),
              static_cast<int8_t *>(packed[0].get()) + panel * plan.panelBytes());
  }
  return Status::ok();
}

ColumnScales readColumnScales(const IntegerPlan &plan, const float *scales, const void *offsets) {
  const IntegerSizes &sizes = plan.sizes;
  auto count = static_cast<size_t>(sizes.groups * plan.panels() * kPanelColumns);
  ColumnScales columns{std::vector<float>(count), std::vector<float>(count)};
  for (int64_t output = 0; output < plan.outputs(); ++output) {
    int64_t source = sizes.isPerChannel ? output : 0;
    auto column = static_cast<size_t>(output / sizes.outputs * plan.panels() * kPanelColumns + output % sizes.outputs);
    float offset = readOffset(sizes.weightOffsets, sizes.isWeightSigned, offsets, source);
    columns.scales[column] = scales[source];
    columns.offsets[column] = sizes.isWeightSigned ? offset : offset - 128;
    columns.hasOffsets = columns.hasOffsets || columns.offsets[column] != 0;
  }
  return columns;
}

//===-- Inputs --------------------------------------------------------------------------------------------------===//

void centerRow(const IntegerPlan &plan, const uint8_t *codes, int32_t zero, int64_t image, int64_t row, int16_t *to) {
  const IntegerSizes &sizes = plan.sizes;
  int64_t channels = plan.channels(), width = plan.x.padded(), inputs = sizes.inputs;
  to += (image * plan.y.padded() + row) * width * channels;
  if (plan.isProduct()) {
    centerCodes(codes + image * inputs, inputs, sizes.isInputSigned, zero, to, 1);
    if (inputs < channels)
      to[inputs] = 0;
    return;
  }
  int64_t from = row - plan.y.padding, places = plan.y.input * plan.x.input;
  int64_t begin = plan.x.padding, count = std::clamp<int64_t>(width - begin, 0, plan.x.input);
  bool isPadded = begin > 0 || begin + count < width || inputs < plan.groupChannels();
  bool isOutside = from < 0 || from >= plan.y.input || count == 0;
  if (isPadded || isOutside)
    std::fill_n(to, width * channels, int16_t(0));
  if (isOutside)
    return;
  for (int64_t group = 0; group < sizes.groups; ++group)
    centerChannels(codes + (image * sizes.groups + group) * inputs * places + from * plan.x.input, inputs, places,
                   count, sizes.isInputSigned, zero, to + begin * channels + group * plan.groupChannels(), channels);
}

} // namespace inlay::rt::host
