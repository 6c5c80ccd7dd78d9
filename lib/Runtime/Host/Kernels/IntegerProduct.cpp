// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs products and convolutions of integers as slices of the result, in parallel. Sums are exact. They become floats
// by one rounding and one product with the scales. IntegerPlan.cpp has the layouts.

#include "IntegerPlan.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Portable/PostOps.h"
#include "Runtime/Host/Portable/Transpose.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "TaskSizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace inlay::rt::host {

/// Number of places and of output channels of a slice.
static constexpr int64_t kPlaces = 4 * kIntegerRows, kColumns = 4 * kPanelColumns;

namespace {
/// The numbers of the buffers of a call; 0 for one that it lacks.
struct BufferNumbers {
  uint32_t inputScales, inputOffsets, weight, weightScales, weightOffsets;
  uint32_t operands; ///< The bias, or the first operand of post-ops.
  uint32_t resultScale, resultOffset, result;
};

class IntegerProductKernel : public LibraryKernel {
public:
  explicit IntegerProductKernel(const HostKernel &kernel) : kernel(kernel), postOps(withBias(kernel)) {}

  Status call(void *const *buffers, const int64_t *numbers) override;
  void forgetConstants() override { constants.forget(); }

private:
  StatusOr<std::shared_ptr<const Packed>> packWeight(const IntegerPlan &plan, uint32_t buffer, const void *codes);

  HostKernel kernel;
  std::vector<PostOp> postOps;
  ConstantCache constants;
};

/// Part of the result: places of one image, or rows of a product, and output channels of one group.
struct Slice {
  int64_t image, firstPlace, places;
  int64_t group, firstColumn, columns; ///< Columns are counted in the group.
};

/// The data of one call that its tasks share.
struct ProductRun {
  const HostKernel &kernel;
  const std::vector<PostOp> &postOps;
  const IntegerPlan &plan;
  const BufferNumbers &at;
  void *const *buffers;
  const int16_t *centered;
  const int8_t *panels;
  const ColumnScales &columns;
  const int8_t *ones; ///< A panel of ones, or null if the weight has no offsets.
  std::vector<IntegerChunk> chunks;
  CodeFormat format;

  int64_t images() const { return plan.isProduct() ? 1 : plan.sizes.batch; }
  int64_t placesPerImage() const { return plan.isProduct() ? plan.sizes.batch : plan.places(); }
  int64_t placeBlocks() const { return (placesPerImage() + kPlaces - 1) / kPlaces; }
  int64_t columnBlocks() const { return (plan.sizes.outputs + kColumns - 1) / kColumns; }
  int64_t tasks() const { return images() * plan.sizes.groups * columnBlocks() * placeBlocks(); }

  Status runTask(int64_t task) const;

private:
  using Totals = std::array<double, kPlaces * kPanelColumns>;

  Slice sliceOf(int64_t task) const;
  const int16_t *rowAt(const Slice &slice, int64_t place) const;
  float rowScale(const Slice &slice, int64_t place) const;
  void sumWide(const int16_t *const *rows, int64_t count, const int8_t *panel, double *totals) const;
  void multiplyPanel(const Slice &slice, const int16_t *const *rows, int64_t column, float *to) const;
  void multiplyPanelWide(const Slice &slice, const int16_t *const *rows, const Totals &rowTotals, int64_t column,
                         float *to) const;
  void finish(const Slice &slice, const Tile &tile) const;
};
} // namespace

//===-- Sums ----------------------------------------------------------------------------------------------------===//

/// Tasks that follow each other have the same weights.
Slice ProductRun::sliceOf(int64_t task) const {
  Slice slice{};
  slice.firstPlace = task % placeBlocks() * kPlaces;
  slice.places = std::min(kPlaces, placesPerImage() - slice.firstPlace);
  task /= placeBlocks();
  slice.firstColumn = task % columnBlocks() * kColumns;
  slice.columns = std::min(kColumns, plan.sizes.outputs - slice.firstColumn);
  task /= columnBlocks();
  slice.group = task % plan.sizes.groups;
  slice.image = task / plan.sizes.groups;
  return slice;
}

/// Returns the first centered element of the window at a place.
const int16_t *ProductRun::rowAt(const Slice &slice, int64_t place) const {
  if (plan.isProduct())
    return centered + place * plan.imageElements();
  int64_t y = place / plan.x.output * plan.y.stride, x = place % plan.x.output * plan.x.stride;
  return centered + slice.image * plan.imageElements() + (y * plan.x.padded() + x) * plan.channels() +
         slice.group * plan.groupChannels();
}

float ProductRun::rowScale(const Slice &slice, int64_t place) const {
  return static_cast<const float *>(buffers[at.inputScales])[plan.sizes.isPerRow ? slice.firstPlace + place : 0];
}

/// Sums of any length, for at most kPlaces rows.
void ProductRun::sumWide(const int16_t *const *rows, int64_t count, const int8_t *panel, double *totals) const {
  std::array<int32_t, kIntegerRows * kPanelColumns> sums;
  std::fill_n(totals, count * kPanelColumns, 0.0);
  for (const IntegerChunk &chunk : chunks)
    for (int64_t row = 0; row < count; row += kIntegerRows) {
      int64_t part = std::min(kIntegerRows, count - row);
      multiplyIntegers(rows + row, part, chunk.runs.data(), static_cast<int64_t>(chunk.runs.size()),
                       panel + chunk.panelOffset, sums.data());
      for (int64_t i = 0; i < part * kPanelColumns; ++i)
        totals[row * kPanelColumns + i] += sums[i];
    }
}

/// Multiplies the rows of a slice with the panel of the columns from `column` on of its group. `to` has kColumns
/// elements per row.
void ProductRun::multiplyPanel(const Slice &slice, const int16_t *const *rows, int64_t column, float *to) const {
  std::array<int32_t, kIntegerRows * kPanelColumns> sums;
  int64_t panel = slice.group * plan.panels() + column / kPanelColumns;
  const IntegerChunk &chunk = chunks.front();
  for (int64_t row = 0; row < slice.places; row += kIntegerRows) {
    int64_t part = std::min(kIntegerRows, slice.places - row);
    multiplyIntegers(rows + row, part, chunk.runs.data(), static_cast<int64_t>(chunk.runs.size()),
                     panels + panel * plan.panelBytes(), sums.data());
    for (int64_t i = 0; i < part; ++i)
      scaleSums(sums.data() + i * kPanelColumns, rowScale(slice, row + i),
                columns.scales.data() + panel * kPanelColumns, to + (row + i) * kColumns);
  }
}

/// The same for offsets of the weight, long sums, and results of f64, which are written to the result and not to `to`.
/// `rowTotals` has the products of the rows with `ones`, unless that is null.
void ProductRun::multiplyPanelWide(const Slice &slice, const int16_t *const *rows, const Totals &rowTotals,
                                   int64_t column, float *to) const {
  Totals totals;
  int64_t panel = slice.group * plan.panels() + column / kPanelColumns, first = panel * kPanelColumns;
  sumWide(rows, slice.places, panels + panel * plan.panelBytes(), totals.data());
  bool isDouble = plan.has(IntegerResult::F64);
  int64_t outputs = plan.outputs(), firstOutput = slice.group * plan.sizes.outputs + column;
  for (int64_t row = 0; row < slice.places; ++row)
    for (int64_t i = 0; i < kPanelColumns; ++i) {
      double sum = totals[row * kPanelColumns + i];
      if (ones)
        sum -= static_cast<double>(columns.offsets[static_cast<size_t>(first + i)]) * rowTotals[row * kPanelColumns];
      float scale = rowScale(slice, row) * columns.scales[static_cast<size_t>(first + i)];
      if (!isDouble) {
        to[row * kColumns + i] = static_cast<float>(sum) * scale;
      } else if (column + i < plan.sizes.outputs) {
        int64_t place = slice.firstPlace + row, output = firstOutput + i;
        int64_t element =
            plan.isProduct() ? place * outputs + output : (slice.image * outputs + output) * plan.places() + place;
        static_cast<double *>(buffers[at.result])[element] = sum * scale;
      }
    }
}

//===-- Tasks ---------------------------------------------------------------------------------------------------===//

/// Applies post-ops to a slice, which has a row per place of a product or per channel of a convolution, and writes it.
void ProductRun::finish(const Slice &slice, const Tile &tile) const {
  std::array<PostOperand, kMaxPostOperands> operands;
  bool isProduct = plan.isProduct();
  int64_t channel = slice.group * plan.sizes.outputs + slice.firstColumn;
  int64_t pitch = isProduct ? plan.outputs() : plan.places();
  int64_t offset = isProduct ? slice.firstPlace * pitch + channel
                             : (slice.image * plan.outputs() + channel) * pitch + slice.firstPlace;
  uint32_t count = static_cast<uint32_t>(countOperands(kernel));
  for (uint32_t i = 0; i < count; ++i) {
    const auto *data = static_cast<const float *>(buffers[at.operands + i]);
    bool isBias = kernel.hasBias && i == 0;
    operands[i] = isBias ? PostOperand{data + channel, !isProduct, isProduct} : PostOperand{data + offset, pitch, 1};
  }
  applyPostOps(postOps, operands.data(), tile);
  bool isCodes = plan.has(IntegerResult::Codes);
  for (int64_t row = 0; row < tile.rows; ++row, offset += pitch) {
    const float *from = tile.data + row * tile.row;
    if (isCodes)
      quantizeCodes(from, tile.columns, format, static_cast<uint8_t *>(buffers[at.result]) + offset);
    else
      std::memcpy(static_cast<float *>(buffers[at.result]) + offset, from,
                  static_cast<size_t>(tile.columns) * sizeof(float));
  }
}

Status ProductRun::runTask(int64_t task) const {
  Slice slice = sliceOf(task);
  std::array<const int16_t *, kPlaces> rows;
  for (int64_t place = 0; place < slice.places; ++place)
    rows[place] = rowAt(slice, slice.firstPlace + place);
  bool isDouble = plan.has(IntegerResult::F64);
  bool isWide = ones || chunks.size() > 1 || isDouble;
  Totals rowTotals;
  if (ones)
    sumWide(rows.data(), slice.places, ones, rowTotals.data());
  alignas(64) std::array<float, kPlaces * kColumns> tile, transposed;
  for (int64_t column = 0; column < slice.columns; column += kPanelColumns) {
    if (isWide)
      multiplyPanelWide(slice, rows.data(), rowTotals, slice.firstColumn + column, tile.data() + column);
    else
      multiplyPanel(slice, rows.data(), slice.firstColumn + column, tile.data() + column);
  }
  if (isDouble)
    return Status::ok();
  if (plan.isProduct()) {
    finish(slice, {tile.data(), slice.places, slice.columns, kColumns});
    return Status::ok();
  }
  transpose(tile.data(), kColumns, slice.places, slice.columns, transposed.data(), kPlaces);
  finish(slice, {transposed.data(), slice.columns, slice.places, kPlaces});
  return Status::ok();
}

//===-- Calls ---------------------------------------------------------------------------------------------------===//

static BufferNumbers numberBuffers(const IntegerPlan &plan, const HostKernel &kernel) {
  const IntegerSizes &sizes = plan.sizes;
  BufferNumbers at{};
  uint32_t next = 1;
  auto addOffsets = [&](int64_t kind) { return kind == static_cast<int64_t>(IntegerOffsets::None) ? 0 : next++; };
  at.inputScales = next++;
  at.inputOffsets = addOffsets(sizes.inputOffsets);
  at.weight = next++;
  at.weightScales = next++;
  at.weightOffsets = addOffsets(sizes.weightOffsets);
  at.operands = next;
  next += static_cast<uint32_t>(countOperands(kernel));
  if (plan.has(IntegerResult::Codes)) {
    at.resultScale = next++;
    at.resultOffset = addOffsets(sizes.resultOffsets);
  }
  at.result = next;
  return at;
}

StatusOr<std::shared_ptr<const Packed>> IntegerProductKernel::packWeight(const IntegerPlan &plan, uint32_t buffer,
                                                                         const void *codes) {
  auto pack = [&](Packed &packed) { return packIntegers(plan, static_cast<const uint8_t *>(codes), packed); };
  if (isConstant(kernel, buffer)) {
    const IntegerSizes &sizes = plan.sizes;
    return constants.get(codes,
                         fmt::format("{}x{}x{} {}x{} {} {}", sizes.groups, sizes.outputs, sizes.inputs, plan.y.kernel,
                                     plan.x.kernel, sizes.isWeightSigned, sizes.isWeightTransposed),
                         pack);
  }
  auto packed = std::make_shared<Packed>();
  INLAY_RETURN_IF_ERROR(pack(*packed));
  return std::shared_ptr<const Packed>(std::move(packed));
}

namespace {
/// The zero points of the input: one, or one per row.
struct Zeros {
  std::vector<int32_t> values;
  int64_t largest = 0; ///< The largest absolute value of a centered code.
};
} // namespace

/// Returns the zero points of the input. Centered codes must fit 16 bits.
static StatusOr<Zeros> readZeros(const IntegerSizes &sizes, const void *offsets) {
  constexpr float kLargest = 32767 - 255;
  int32_t low = sizes.isInputSigned ? -128 : 0, high = low + 255;
  Zeros zeros;
  for (int64_t row = 0, rows = sizes.isPerRow ? sizes.batch : 1; row < rows; ++row) {
    float value = readOffset(sizes.inputOffsets, sizes.isInputSigned != 0, offsets, row);
    if (!(std::abs(value) <= kLargest) || value != std::floor(value))
      return Status(
          StatusCode::InvalidArgument,
          fmt::format("expected zero points of activations to be integers of at most {}, but got {}", kLargest, value));
    auto zero = static_cast<int32_t>(value);
    zeros.values.push_back(zero);
    zeros.largest = std::max<int64_t>({zeros.largest, std::abs(low - zero), std::abs(high - zero)});
  }
  return zeros;
}

/// Returns the centered input.
static StatusOr<const int16_t *> centerInput(const IntegerPlan &plan, const uint8_t *codes, const Zeros &zeros) {
  static Scratch scratch;
  int64_t rows = plan.sizes.batch * plan.y.padded();
  auto bytes = static_cast<size_t>(plan.sizes.batch * plan.imageElements()) * sizeof(int16_t);
  auto *centered = static_cast<int16_t *>(scratch.reserve(bytes));
  if (!centered)
    return Status(StatusCode::ResourceExhausted, fmt::format("no memory for {} bytes of centered codes", bytes));
  double work = static_cast<double>(plan.imageElements()) / static_cast<double>(plan.y.padded());
  INLAY_RETURN_IF_ERROR(ThreadPool::get().run(rows, chooseChunk(rows, work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t image = row / plan.y.padded();
      int32_t zero = zeros.values[plan.sizes.isPerRow ? static_cast<size_t>(image) : 0];
      centerRow(plan, codes, zero, image, row % plan.y.padded(), centered);
    }
    return Status::ok();
  }));
  return centered;
}

/// Returns the format of the codes of the result.
static CodeFormat readFormat(const IntegerSizes &sizes, const BufferNumbers &at, void *const *buffers) {
  if (!at.resultScale)
    return {};
  float offset = readOffset(sizes.resultOffsets, sizes.isResultSigned != 0,
                            at.resultOffset ? buffers[at.resultOffset] : nullptr, 0);
  return {static_cast<const float *>(buffers[at.resultScale])[0], offset, static_cast<float>(sizes.low),
          static_cast<float>(sizes.high), sizes.isInverse != 0};
}

Status IntegerProductKernel::call(void *const *buffers, const int64_t *numbers) {
  StatusOr<IntegerPlan> read = readIntegerPlan(numbers);
  if (!read.isOk())
    return read.status();
  const IntegerPlan &plan = *read;
  BufferNumbers at = numberBuffers(plan, kernel);
  if (at.result + 1 != kernel.buffers)
    return {StatusCode::InvalidArgument,
            fmt::format("expected {} buffers of a product of integers, but got {}", at.result + 1, kernel.buffers)};
  if (plan.isEmpty())
    return Status::ok();
  StatusOr<Zeros> zeros = readZeros(plan.sizes, at.inputOffsets ? buffers[at.inputOffsets] : nullptr);
  if (!zeros.isOk())
    return zeros.status();
  auto packed = packWeight(plan, at.weight, buffers[at.weight]);
  if (!packed.isOk())
    return packed.status();
  auto centered = centerInput(plan, static_cast<const uint8_t *>(buffers[0]), *zeros);
  if (!centered.isOk())
    return centered.status();
  ColumnScales columns = readColumnScales(plan, static_cast<const float *>(buffers[at.weightScales]),
                                          at.weightOffsets ? buffers[at.weightOffsets] : nullptr);
  Memory ones;
  if (columns.hasOffsets) {
    ones = allocate(static_cast<size_t>(plan.panelBytes()));
    if (!ones)
      return {StatusCode::ResourceExhausted, "no memory for a panel of weights"};
    std::memset(ones.get(), 1, static_cast<size_t>(plan.panelBytes()));
  }
  ProductRun run{kernel,
                 postOps,
                 plan,
                 at,
                 buffers,
                 *centered,
                 static_cast<const int8_t *>((**packed)[0].get()),
                 columns,
                 static_cast<const int8_t *>(ones.get()),
                 plan.makeChunks(zeros->largest),
                 readFormat(plan.sizes, at, buffers)};
  double work = static_cast<double>(plan.panelBytes()) * kPlaces * (kColumns / kPanelColumns);
  return ThreadPool::get().run(run.tasks(), chooseChunk(run.tasks(), work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(run.runTask(task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeIntegerProduct(const HostKernel &kernel) {
  // Besides the codes, scales and result, there may be offsets of both inputs, and a scale and an offset of the result.
  INLAY_RETURN_IF_ERROR(checkProduct(kernel, "a product of integers", 5, 9));
  return std::unique_ptr<LibraryKernel>(std::make_unique<IntegerProductKernel>(kernel));
}

} // namespace inlay::rt::host
