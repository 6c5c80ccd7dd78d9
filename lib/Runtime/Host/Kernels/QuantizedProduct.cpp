// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies rows with quantized weights. A few rows are multiplied with the packed codes, so each byte is read once.
// For more rows, some rows of weights at a time are dequantized and multiplied by the library.

#include "ConstantCache.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Portable/PostOps.h"
#include "Runtime/Host/Portable/QuantizedRows.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "TaskSizes.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace inlay::rt::host {

static constexpr uint32_t kX = 0, kCodes = 1, kScales = 2, kOffsets = 3;
/// Number of weight rows per task for a few rows of X.
static constexpr int64_t kSlice = 16;
/// Number of floats of a tile of dequantized weights, unless a row is longer.
static constexpr int64_t kTileFloats = 65536;
static constexpr int64_t kMinTileRows = 16, kMaxTileRows = 256;
/// Number of rows of X that the library multiplies at a time.
static constexpr int64_t kMaxRows = 256;

namespace {
/// The sizes that a call passes, in order.
struct Sizes {
  int64_t m, n, k;
  int64_t blockN, blockK; ///< At most n and k.
  CodeType type;
  QuantizedElement scales, offsets;
  bool isTransposed; ///< True if the weight is [k, n].
  bool hasMinima;

  int64_t blocksK() const { return (k + blockK - 1) / blockK; }
  int64_t blocksN() const { return (n + blockN - 1) / blockN; }
};

/// The weight as rows of codes over k.
struct Weight {
  const uint8_t *codes;
  const void *scales, *offsets; ///< `offsets` may be null.
  QuantizedElement scaleType, offsetType;
  int64_t blockN;
};

/// The primitives for the slices of a product of many rows. An index is 1 for the last slice, if that is smaller.
struct TilePlan {
  int64_t rows, columns; ///< Sizes of a slice.
  std::shared_ptr<Gemm> gemms[2][2];
};

class QuantizedProductKernel : public LibraryKernel {
public:
  QuantizedProductKernel(const HostKernel &kernel, SequentialLibrary &library)
      : kernel(kernel), library(library), postOps(withBias(kernel)),
        hasOffsets(kernel.buffers > 4 + countOperands(kernel)) {}

  Status call(void *const *buffers, const int64_t *numbers) override;
  void forgetConstants() override { constants.forget(); }

private:
  StatusOr<std::shared_ptr<const Packed>> transposeWeight(void *const *buffers, const Sizes &sizes);
  StatusOr<std::shared_ptr<const TilePlan>> planTiles(const Sizes &sizes) const;

  HostKernel kernel;
  SequentialLibrary &library;
  std::vector<PostOp> postOps;
  bool hasOffsets;
  PlanCache<TilePlan> plans;
  ConstantCache constants; ///< Transposed weights.
};

/// The data of one call that its tasks share.
struct QuantizedRun {
  const HostKernel &kernel;
  const std::vector<PostOp> &postOps;
  const Sizes &sizes;
  const Weight &weight;
  void *const *buffers;
  const float *x; ///< Arranged if there are at most kQuantizedRows rows.
  const TilePlan *tiles;

  Status runSlice(int64_t slice) const;
  Status runTile(int64_t tile) const;

private:
  QuantizedRow rowAt(int64_t n, float *converted) const;
  void finish(int64_t m, int64_t n, const Tile &tile) const;
};
} // namespace

//===-- Elements ------------------------------------------------------------------------------------------------===//

static int64_t byteSize(QuantizedElement type) {
  return type == QuantizedElement::F32 ? 4 : type == QuantizedElement::Code ? 1 : 2;
}

/// Writes `count` scales or offsets from number `first` on to `to`.
static void toFloats(const void *values, QuantizedElement type, bool isSigned, int64_t first, int64_t count,
                     float *to) {
  const auto *bytes = static_cast<const uint8_t *>(values) + first * byteSize(type);
  switch (type) {
  case QuantizedElement::F32:
    std::memcpy(to, bytes, static_cast<size_t>(count) * sizeof(float));
    return;
  case QuantizedElement::F16:
    widenHalves(reinterpret_cast<const uint16_t *>(bytes), count, to);
    return;
  case QuantizedElement::BF16:
    for (int64_t i = 0; i < count; ++i)
      to[i] = bfloatToFloat(reinterpret_cast<const uint16_t *>(bytes)[i]);
    return;
  case QuantizedElement::Code:
    for (int64_t i = 0; i < count; ++i)
      to[i] = isSigned ? static_cast<float>(static_cast<int8_t>(bytes[i])) : static_cast<float>(bytes[i]);
    return;
  }
}

/// Returns the floats of a row of scales or offsets: the memory itself, or `room` with the converted ones.
static const float *floatsAt(const void *values, QuantizedElement type, bool isSigned, int64_t first, int64_t count,
                             float *room) {
  if (type == QuantizedElement::F32)
    return static_cast<const float *>(values) + first;
  toFloats(values, type, isSigned, first, count, room);
  return room;
}

//===-- Tasks ---------------------------------------------------------------------------------------------------===//

/// Returns row `n` of the weight. `converted` has room for two floats per block.
QuantizedRow QuantizedRun::rowAt(int64_t n, float *converted) const {
  int64_t blocks = sizes.blocksK(), first = n / weight.blockN * blocks;
  bool isSigned = sizes.type.isSigned;
  const float *scales = floatsAt(weight.scales, weight.scaleType, isSigned, first, blocks, converted);
  const float *offsets = weight.offsets
                             ? floatsAt(weight.offsets, weight.offsetType, isSigned, first, blocks, converted + blocks)
                             : nullptr;
  return {sizes.type,  weight.codes + n * sizes.type.bytes(sizes.k), scales, offsets, sizes.hasMinima, sizes.k,
          sizes.blockK};
}

/// Applies the post-ops to a slice of the result, and writes it.
void QuantizedRun::finish(int64_t m, int64_t n, const Tile &tile) const {
  std::array<PostOperand, kMaxPostOperands> operands;
  uint32_t y = kernel.buffers - 1, first = y - static_cast<uint32_t>(countOperands(kernel));
  for (uint32_t buffer = first; buffer < y; ++buffer) {
    const auto *data = static_cast<const float *>(buffers[buffer]);
    bool isBias = kernel.hasBias && buffer == first;
    operands[buffer - first] = isBias ? PostOperand{data + n, 0, 1} : PostOperand{data + m * sizes.n + n, sizes.n, 1};
  }
  applyPostOps(postOps, operands.data(), tile);
  for (int64_t row = 0; row < tile.rows; ++row)
    std::memcpy(static_cast<float *>(buffers[y]) + (m + row) * sizes.n + n, tile.data + row * tile.row,
                static_cast<size_t>(tile.columns) * sizeof(float));
}

/// Multiplies all rows of X, of which there are few, with some rows of the weight.
Status QuantizedRun::runSlice(int64_t slice) const {
  static Scratch scratch;
  auto floats = static_cast<size_t>(sizes.k + 2 * sizes.blocksK());
  auto *room = static_cast<float *>(scratch.reserve(floats * sizeof(float)));
  if (!room)
    return {StatusCode::ResourceExhausted, "no memory for a row of weights"};
  std::array<float, kQuantizedRows * kSlice> results;
  int64_t begin = slice * kSlice, count = std::min(kSlice, sizes.n - begin);
  for (int64_t i = 0; i < count; ++i) {
    std::array<float, kQuantizedRows> products;
    multiplyQuantized(rowAt(begin + i, room + sizes.k), x, sizes.m, room, products.data());
    for (int64_t row = 0; row < sizes.m; ++row)
      results[row * kSlice + i] = products[row];
  }
  finish(0, begin, {results.data(), sizes.m, count, kSlice});
  return Status::ok();
}

/// Dequantizes some rows of the weight and multiplies all rows of X with them.
Status QuantizedRun::runTile(int64_t tile) const {
  static Scratch scratch;
  int64_t begin = tile * tiles->columns, columns = std::min(tiles->columns, sizes.n - begin);
  auto floats = static_cast<size_t>(columns * sizes.k + 2 * sizes.blocksK() + tiles->rows * columns);
  auto *weights = static_cast<float *>(scratch.reserve(floats * sizeof(float)));
  if (!weights)
    return {StatusCode::ResourceExhausted, "no memory for some rows of weights"};
  float *converted = weights + columns * sizes.k, *results = converted + 2 * sizes.blocksK();
  for (int64_t i = 0; i < columns; ++i)
    dequantizeRow(rowAt(begin + i, converted), /*arranges=*/false, weights + i * sizes.k);
  for (int64_t m = 0; m < sizes.m; m += tiles->rows) {
    int64_t rows = std::min(tiles->rows, sizes.m - m);
    const Gemm &gemm = *tiles->gemms[rows != tiles->rows][columns != tiles->columns];
    INLAY_RETURN_IF_ERROR(gemm.run(x + m * sizes.k, weights, results));
    finish(m, begin, {results, rows, columns, columns});
  }
  return Status::ok();
}

//===-- Calls ---------------------------------------------------------------------------------------------------===//

StatusOr<std::shared_ptr<const TilePlan>> QuantizedProductKernel::planTiles(const Sizes &sizes) const {
  auto plan = std::make_shared<TilePlan>();
  plan->rows = std::min(sizes.m, kMaxRows);
  plan->columns = std::min(sizes.n, std::clamp(kTileFloats / sizes.k, kMinTileRows, kMaxTileRows));
  for (bool isTailM : {false, true})
    for (bool isTailN : {false, true}) {
      GemmShape shape;
      shape.m = isTailM ? sizes.m % plan->rows : plan->rows;
      shape.n = isTailN ? sizes.n % plan->columns : plan->columns;
      shape.k = sizes.k;
      shape.aRow = shape.bColumn = sizes.k;
      shape.aColumn = shape.bRow = 1;
      shape.cRow = shape.n;
      if (shape.m == 0 || shape.n == 0)
        continue;
      auto gemm = makeGemm(library, shape);
      if (!gemm.isOk())
        return gemm.status();
      plan->gemms[isTailM][isTailN] = std::move(*gemm);
    }
  return std::shared_ptr<const TilePlan>(std::move(plan));
}

/// Returns the codes, scales and offsets of a weight that is [k, n] as rows over k. Scales and offsets become f32.
StatusOr<std::shared_ptr<const Packed>> QuantizedProductKernel::transposeWeight(void *const *buffers,
                                                                                const Sizes &sizes) {
  auto transpose = [&](Packed &packed) -> Status {
    int64_t rowBytes = sizes.type.bytes(sizes.k), fromBytes = sizes.type.bytes(sizes.n), blocks = sizes.blocksK();
    packed.push_back(allocate(static_cast<size_t>(sizes.n * rowBytes)));
    for (int list = 0; list < 1 + hasOffsets; ++list)
      packed.push_back(allocate(static_cast<size_t>(sizes.blocksN() * blocks) * sizeof(float)));
    for (const Memory &memory : packed)
      if (!memory)
        return {StatusCode::ResourceExhausted, "no memory for transposed weights"};
    auto *to = static_cast<uint8_t *>(packed[0].get());
    std::memset(to, 0, static_cast<size_t>(sizes.n * rowBytes));
    const auto *from = static_cast<const uint8_t *>(buffers[kCodes]);
    int32_t mask = (1 << sizes.type.bits) - 1;
    for (int64_t k = 0; k < sizes.k; ++k)
      for (int64_t n = 0, bit = k * sizes.type.bits; n < sizes.n; ++n)
        to[n * rowBytes + bit / 8] |= (sizes.type.read(from + k * fromBytes, n) & mask) << bit % 8;
    for (int list = 0; list < 1 + hasOffsets; ++list) {
      QuantizedElement type = list == 0 ? sizes.scales : sizes.offsets;
      auto *floats = static_cast<float *>(packed[1 + list].get());
      for (int64_t k = 0; k < blocks; ++k)
        for (int64_t n = 0; n < sizes.blocksN(); ++n)
          toFloats(buffers[kScales + list], type, sizes.type.isSigned, k * sizes.blocksN() + n, 1,
                   floats + n * blocks + k);
    }
    return Status::ok();
  };
  std::string layout =
      fmt::format("{} {} {}x{} {}x{} {} {} {}", fmt::ptr(buffers[kScales]),
                  fmt::ptr(hasOffsets ? buffers[kOffsets] : nullptr), sizes.n, sizes.k, sizes.blockN, sizes.blockK,
                  sizes.type.bits, static_cast<int>(sizes.scales), static_cast<int>(sizes.offsets));
  bool isWeight = isConstant(kernel, kCodes) && isConstant(kernel, kScales);
  if (isWeight && (!hasOffsets || isConstant(kernel, kOffsets)))
    return constants.get(buffers[kCodes], layout, transpose);
  auto packed = std::make_shared<Packed>();
  INLAY_RETURN_IF_ERROR(transpose(*packed));
  return std::shared_ptr<const Packed>(std::move(packed));
}

/// Reads and checks the sizes of a call.
static StatusOr<Sizes> readSizes(const int64_t *numbers) {
  Sizes sizes{};
  sizes.m = numbers[0], sizes.n = numbers[1], sizes.k = numbers[2];
  sizes.blockN = std::min(numbers[3], sizes.n), sizes.blockK = std::min(numbers[4], sizes.k);
  sizes.type = {numbers[5], numbers[6] != 0};
  sizes.scales = static_cast<QuantizedElement>(numbers[7]), sizes.offsets = static_cast<QuantizedElement>(numbers[8]);
  sizes.isTransposed = numbers[9] != 0, sizes.hasMinima = numbers[10] != 0;
  bool isCode = numbers[5] == 2 || numbers[5] == 4 || numbers[5] == 8;
  auto isElement = [](int64_t number) { return number >= 0 && number <= static_cast<int64_t>(QuantizedElement::Code); };
  if (sizes.m < 0 || sizes.n < 1 || sizes.k < 1 || numbers[3] < 1 || numbers[4] < 1 || !isCode ||
      !isElement(numbers[7]) || !isElement(numbers[8]))
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected the sizes of a product with quantized weights, but got [{}]",
                              fmt::join(numbers, numbers + kQuantizedSizes, ", ")));
  return sizes;
}

/// Returns the few rows of X in arranged order, which is the order in which codes are unpacked; null if out of memory.
static const float *arrangeRows(const float *x, const Sizes &sizes) {
  static Scratch scratch;
  if (sizes.type.bits != 4)
    return x;
  auto *to = static_cast<float *>(scratch.reserve(static_cast<size_t>(sizes.m * sizes.k) * sizeof(float)));
  for (int64_t row = 0; to && row < sizes.m; ++row)
    for (int64_t k = 0; k < sizes.k; ++k)
      to[row * sizes.k + arrangedPosition(sizes.type, k, sizes.k)] = x[row * sizes.k + k];
  return to;
}

Status QuantizedProductKernel::call(void *const *buffers, const int64_t *numbers) {
  StatusOr<Sizes> read = readSizes(numbers);
  if (!read.isOk())
    return read.status();
  const Sizes &sizes = *read;
  if (sizes.m == 0)
    return Status::ok();
  Weight weight{static_cast<const uint8_t *>(buffers[kCodes]),
                buffers[kScales],
                hasOffsets ? buffers[kOffsets] : nullptr,
                sizes.scales,
                sizes.offsets,
                sizes.blockN};
  std::shared_ptr<const Packed> packed;
  if (sizes.isTransposed) {
    auto transposed = transposeWeight(buffers, sizes);
    if (!transposed.isOk())
      return transposed.status();
    packed = std::move(*transposed);
    weight.codes = static_cast<const uint8_t *>((*packed)[0].get());
    weight.scales = (*packed)[1].get();
    weight.offsets = hasOffsets ? (*packed)[2].get() : nullptr;
    weight.scaleType = weight.offsetType = QuantizedElement::F32;
  }
  const auto *x = static_cast<const float *>(buffers[kX]);
  if (sizes.m <= kQuantizedRows)
    x = arrangeRows(x, sizes);
  if (!x)
    return {StatusCode::ResourceExhausted, "no memory for rows in another order"};
  std::shared_ptr<const TilePlan> tiles;
  if (sizes.m > kQuantizedRows) {
    auto plan = plans.get({sizes.m, sizes.n, sizes.k}, [&] { return planTiles(sizes); });
    if (!plan.isOk())
      return plan.status();
    tiles = std::move(*plan);
  }
  QuantizedRun run{kernel, postOps, sizes, weight, buffers, x, tiles.get()};
  int64_t slice = tiles ? tiles->columns : kSlice, tasks = (sizes.n + slice - 1) / slice;
  double work = static_cast<double>(sizes.m) * static_cast<double>(slice) * static_cast<double>(sizes.k);
  auto least = static_cast<int64_t>(kMinWork / work) + 1;
  int64_t chunk = std::max(tasks / (threadsToPlanFor() * kTasksPerThread), least);
  return ThreadPool::get().run(tasks, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(tiles ? run.runTile(task) : run.runSlice(task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeQuantizedProduct(const HostKernel &kernel, SequentialLibrary &library) {
  size_t operands = countOperands(kernel), least = 4 + operands;
  if ((kernel.buffers != least && kernel.buffers != least + 1) || operands > kMaxPostOperands)
    return Status(
        StatusCode::InvalidArgument,
        fmt::format("kernel '{}': expected a product with quantized weights of {} or {} buffers, with at most "
                    "{} for post-ops, but got {}",
                    kernel.name, least, least + 1, kMaxPostOperands, kernel.buffers));
  for (const PostOp &op : kernel.postOps)
    if (isPerChannel(op.kind))
      return Status(
          StatusCode::InvalidArgument,
          fmt::format("kernel '{}': a product with quantized weights has no post-op '{}'", kernel.name, name(op.kind)));
  return std::unique_ptr<LibraryKernel>(std::make_unique<QuantizedProductKernel>(kernel, library));
}

} // namespace inlay::rt::host
