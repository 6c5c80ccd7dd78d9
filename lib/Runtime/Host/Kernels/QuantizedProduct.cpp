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

static constexpr uint32_t kX = 0, kCodes = 1, kScales = 2;
/// Number of weight rows per task for a few rows of X.
static constexpr int64_t kSlice = 16;
/// Number of floats of a tile of dequantized weights, unless a row is longer.
static constexpr int64_t kTileFloats = 65536;
static constexpr int64_t kMinTileRows = 16, kMaxTileRows = 256;
/// Number of rows of X that the library multiplies at a time.
static constexpr int64_t kMaxRows = 256;

namespace {
/// The format of the scales or the offsets of a weight: elements, or codes with an element for each block.
struct ListFormat {
  QuantizedElement element;
  CodeType type;                   ///< Of codes. 0 bits if the values are elements.
  int64_t blockRows, blockColumns; ///< Of a block of codes.

  bool isNested() const { return type.bits != 0; }
};

/// The sizes that a call passes.
struct Sizes {
  int64_t m, n, k;
  bool isTransposed; ///< True if the weight is [k, n].
  bool hasOffsets;
  int64_t blockN;
  RowFormat row; ///< Of a row of the weight over k.
  ListFormat scales, offsets;

  int64_t blocksN() const { return (n + blockN - 1) / blockN; }
  int64_t blocksK() const { return (k + row.block - 1) / row.block; }
  uint32_t offsetsBuffer() const { return kScales + 1 + scales.isNested(); }
  /// Returns the number of the buffer behind those of the weight.
  uint32_t weightEnd() const { return offsetsBuffer() + (hasOffsets ? 1 + offsets.isNested() : 0); }
};

/// The scales or the offsets of a weight.
struct List {
  ListFormat format;
  const void *values = nullptr, *factors = nullptr; ///< `factors` are the scales of nested codes.
};

/// The weight as rows of codes over k.
struct Weight {
  const uint8_t *codes;
  List scales, offsets; ///< `offsets` may have no values.
};

/// The primitives for the slices of a product of many rows. An index is 1 for the last slice, if that is smaller.
struct TilePlan {
  int64_t rows, columns; ///< Sizes of a slice.
  std::shared_ptr<Gemm> gemms[2][2];
};

class QuantizedProductKernel : public LibraryKernel {
public:
  QuantizedProductKernel(const HostKernel &kernel, SequentialLibrary &library)
      : kernel(kernel), library(library), postOps(withBias(kernel)) {}

  Status call(void *const *buffers, const int64_t *numbers) override;
  void forgetConstants() override { constants.forget(); }

private:
  StatusOr<Sizes> readSizes(const int64_t *numbers) const;
  StatusOr<std::shared_ptr<const Packed>> transposeWeight(void *const *buffers, const int64_t *numbers,
                                                          const Sizes &sizes);
  StatusOr<std::shared_ptr<const TilePlan>> planTiles(const Sizes &sizes) const;

  HostKernel kernel;
  SequentialLibrary &library;
  std::vector<PostOp> postOps;
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
  const float *x; ///< Arranged if there are at most kQuantizedRows rows and isArranged(sizes.row).
  const TilePlan *tiles;

  Status runSlice(int64_t slice) const;
  Status runTile(int64_t tile) const;

private:
  QuantizedRow rowAt(int64_t n, float *room) const;
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

/// Returns the number of floats that `rowAt` needs room for.
static int64_t countRowFloats(const Sizes &sizes) { return 4 * sizes.blocksK(); }

/// Returns the `count` scales or offsets of row `row` of blocks. `room` has room for 2 * count floats.
static const float *floatsOfRow(const List &list, bool isSigned, int64_t row, int64_t count, float *room) {
  const ListFormat &format = list.format;
  if (!format.isNested())
    return floatsAt(list.values, format.element, isSigned, row * count, count, room);
  int64_t blocks = (count + format.blockColumns - 1) / format.blockColumns;
  const float *factors =
      floatsAt(list.factors, format.element, isSigned, row / format.blockRows * blocks, blocks, room + count);
  const auto *codes = static_cast<const uint8_t *>(list.values) + row * format.type.bytes(count);
  dequantizeRow({{format.type, count, format.blockColumns}, codes, factors, nullptr}, room);
  return room;
}

/// Returns row `n` of the weight. `room` has room for countRowFloats(sizes) floats.
QuantizedRow QuantizedRun::rowAt(int64_t n, float *room) const {
  int64_t blocks = sizes.blocksK(), row = n / sizes.blockN;
  bool isSigned = sizes.row.type.isSigned;
  const float *scales = floatsOfRow(weight.scales, isSigned, row, blocks, room);
  const float *offsets =
      weight.offsets.values ? floatsOfRow(weight.offsets, isSigned, row, blocks, room + 2 * blocks) : nullptr;
  return {sizes.row, weight.codes + n * sizes.row.type.bytes(sizes.k), scales, offsets};
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
  auto floats = static_cast<size_t>(sizes.k + countRowFloats(sizes));
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
  auto floats = static_cast<size_t>(columns * sizes.k + countRowFloats(sizes) + tiles->rows * columns);
  auto *weights = static_cast<float *>(scratch.reserve(floats * sizeof(float)));
  if (!weights)
    return {StatusCode::ResourceExhausted, "no memory for some rows of weights"};
  float *room = weights + columns * sizes.k, *results = room + countRowFloats(sizes);
  for (int64_t i = 0; i < columns; ++i)
    dequantizeRow(rowAt(begin + i, room), weights + i * sizes.k);
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

static Weight findWeight(void *const *buffers, const Sizes &sizes) {
  auto find = [&](const ListFormat &format, uint32_t buffer) {
    return List{format, buffers[buffer], format.isNested() ? buffers[buffer + 1] : nullptr};
  };
  Weight weight{static_cast<const uint8_t *>(buffers[kCodes]), find(sizes.scales, kScales), {}};
  if (sizes.hasOffsets)
    weight.offsets = find(sizes.offsets, sizes.offsetsBuffer());
  return weight;
}

/// Writes the transposed codes of a weight that is [k, n].
static void transposeCodes(const uint8_t *from, const Sizes &sizes, uint8_t *to) {
  const CodeType &type = sizes.row.type;
  int64_t rowBytes = type.bytes(sizes.k), fromBytes = type.bytes(sizes.n);
  std::memset(to, 0, static_cast<size_t>(sizes.n * rowBytes));
  int32_t mask = (1 << type.bits) - 1;
  for (int64_t k = 0; k < sizes.k; ++k)
    for (int64_t n = 0, bit = k * type.bits; n < sizes.n; ++n)
      to[n * rowBytes + bit / 8] |= (type.read(from + k * fromBytes, n) & mask) << bit % 8;
}

/// Writes the transposed floats of scales or offsets that are [blocks of k, blocks of n].
/// room: has room for 2 * sizes.blocksN() floats.
static void transposeList(const List &list, const Sizes &sizes, float *room, float *to) {
  int64_t rows = sizes.blocksK(), columns = sizes.blocksN();
  for (int64_t k = 0; k < rows; ++k) {
    const float *floats = floatsOfRow(list, sizes.row.type.isSigned, k, columns, room);
    for (int64_t n = 0; n < columns; ++n)
      to[n * rows + k] = floats[n];
  }
}

/// Returns the codes, scales and offsets of a weight that is [k, n] as rows over k. Scales and offsets become f32.
StatusOr<std::shared_ptr<const Packed>>
QuantizedProductKernel::transposeWeight(void *const *buffers, const int64_t *numbers, const Sizes &sizes) {
  Weight weight = findWeight(buffers, sizes);
  auto transpose = [&](Packed &packed) -> Status {
    auto lists = static_cast<size_t>(sizes.blocksN() * sizes.blocksK()) * sizeof(float);
    packed.push_back(allocate(static_cast<size_t>(sizes.n * sizes.row.type.bytes(sizes.k))));
    packed.push_back(allocate(lists));
    if (sizes.hasOffsets)
      packed.push_back(allocate(lists));
    Memory room = allocate(static_cast<size_t>(2 * sizes.blocksN()) * sizeof(float));
    if (!room || !packed[0] || !packed[1] || !packed.back())
      return {StatusCode::ResourceExhausted, "no memory for transposed weights"};
    transposeCodes(weight.codes, sizes, static_cast<uint8_t *>(packed[0].get()));
    auto *floats = static_cast<float *>(room.get());
    transposeList(weight.scales, sizes, floats, static_cast<float *>(packed[1].get()));
    if (sizes.hasOffsets)
      transposeList(weight.offsets, sizes, floats, static_cast<float *>(packed[2].get()));
    return Status::ok();
  };
  bool isWeight = true;
  std::string layout;
  for (uint32_t buffer = kCodes; buffer < sizes.weightEnd(); ++buffer) {
    isWeight &= isConstant(kernel, buffer);
    layout += fmt::format("{} ", fmt::ptr(buffers[buffer]));
  }
  layout += fmt::format("{}", fmt::join(numbers + 1, numbers + kQuantizedSizes, " ")); // All but the rows of X.
  if (isWeight)
    return constants.get(buffers[kCodes], layout, transpose);
  auto packed = std::make_shared<Packed>();
  INLAY_RETURN_IF_ERROR(transpose(*packed));
  return std::shared_ptr<const Packed>(std::move(packed));
}

static bool isFloat(QuantizedElement element) { return element < QuantizedElement::Code; }

/// Reads and checks the sizes of a call.
StatusOr<Sizes> QuantizedProductKernel::readSizes(const int64_t *numbers) const {
  Sizes sizes{};
  bool isValid = true;
  const int64_t *next = numbers;
  auto read = [&](int64_t least, int64_t most) {
    isValid &= *next >= least && *next <= most;
    return *next++;
  };
  auto readElement = [&] {
    return static_cast<QuantizedElement>(read(0, static_cast<int64_t>(QuantizedElement::Code)));
  };
  auto readType = [&](int64_t leastBits) {
    int64_t bits = read(leastBits, 8), isSigned = read(0, 1);
    isValid &= bits == 0 || bits == 2 || bits == 4 || bits == 8;
    return CodeType{bits, isSigned != 0};
  };
  sizes.m = read(0, INT64_MAX), sizes.n = read(1, INT64_MAX), sizes.k = read(1, INT64_MAX);
  sizes.isTransposed = read(0, 1) != 0, sizes.hasOffsets = read(0, 1) != 0, sizes.row.hasMinima = read(0, 1) != 0;
  sizes.row.floats = readElement();
  sizes.row.type = readType(2), sizes.row.count = sizes.k;
  sizes.blockN = std::min(read(1, INT64_MAX), sizes.n), sizes.row.block = std::min(read(1, INT64_MAX), sizes.k);
  for (ListFormat *list : {&sizes.scales, &sizes.offsets}) {
    list->type = readType(0);
    list->blockRows = read(1, INT64_MAX), list->blockColumns = read(1, INT64_MAX);
  }
  sizes.scales.element = readElement(), sizes.offsets.element = readElement();
  isValid &= isFloat(sizes.row.floats) && isFloat(sizes.scales.element) &&
             (isFloat(sizes.offsets.element) || !sizes.offsets.isNested()) &&
             sizes.weightEnd() + countOperands(kernel) + 1 == kernel.buffers;
  if (!isValid)
    return Status(StatusCode::InvalidArgument,
                  fmt::format("expected the sizes of a product with quantized weights, but got [{}]",
                              fmt::join(numbers, numbers + kQuantizedSizes, ", ")));
  return sizes;
}

/// Returns the few rows of X in the order in which codes are unpacked; null if out of memory.
static const float *arrangeRows(const float *x, const Sizes &sizes) {
  static Scratch scratch;
  if (!isArranged(sizes.row))
    return x;
  auto *to = static_cast<float *>(scratch.reserve(static_cast<size_t>(sizes.m * sizes.k) * sizeof(float)));
  for (int64_t row = 0; to && row < sizes.m; ++row)
    for (int64_t k = 0; k < sizes.k; ++k)
      to[row * sizes.k + arrangedPosition(sizes.row.type, k, sizes.k)] = x[row * sizes.k + k];
  return to;
}

Status QuantizedProductKernel::call(void *const *buffers, const int64_t *numbers) {
  StatusOr<Sizes> read = readSizes(numbers);
  if (!read.isOk())
    return read.status();
  const Sizes &sizes = *read;
  if (sizes.m == 0)
    return Status::ok();
  Weight weight = findWeight(buffers, sizes);
  std::shared_ptr<const Packed> packed;
  if (sizes.isTransposed) {
    auto transposed = transposeWeight(buffers, numbers, sizes);
    if (!transposed.isOk())
      return transposed.status();
    packed = std::move(*transposed);
    constexpr ListFormat kFloats = {QuantizedElement::F32, {0, false}, 1, 1};
    weight.codes = static_cast<const uint8_t *>((*packed)[0].get());
    weight.scales = {kFloats, (*packed)[1].get()};
    if (sizes.hasOffsets)
      weight.offsets = {kFloats, (*packed)[2].get()};
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
  return ThreadPool::get().run(tasks, chooseChunk(tasks, work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(tiles ? run.runTile(task) : run.runSlice(task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeQuantizedProduct(const HostKernel &kernel, SequentialLibrary &library) {
  // Besides the codes, scales and result, there may be offsets, and scales of both.
  INLAY_RETURN_IF_ERROR(checkProduct(kernel, "a product with quantized weights", 4, 7));
  return std::unique_ptr<LibraryKernel>(std::make_unique<QuantizedProductKernel>(kernel, library));
}

} // namespace inlay::rt::host
