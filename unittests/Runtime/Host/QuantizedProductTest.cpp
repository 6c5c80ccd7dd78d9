// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace inlay::rt;
using namespace inlay::rt::host;

using RandomQuantizedProducts = KernelTest;
INSTANTIATE_TEST_SUITE_P(Libraries, RandomQuantizedProducts, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

namespace {
/// Scales or offsets as bytes, and their values.
struct Elements {
  QuantizedElement type = QuantizedElement::F32;
  std::vector<uint8_t> bytes;
  std::vector<float> values;
};

/// Codes in rows, each of which begins with a new byte.
struct Codes {
  int64_t rows, columns, bits;
  bool isSigned;
  std::vector<uint8_t> bytes;

  double at(int64_t row, int64_t column) const {
    int64_t bit = column * bits;
    int code = bytes[row * rowBytes() + bit / 8] >> bit % 8 & ((1 << bits) - 1);
    return isSigned && code >= 1 << (bits - 1) ? code - (1 << bits) : code;
  }
  int64_t rowBytes() const { return (columns * bits + 7) / 8; }
};

/// The scales or the offsets of a weight: elements, or codes with an element for each block.
struct Values {
  Elements elements;
  Codes codes{};
  int64_t blockRows = 1, blockColumns = 1; ///< Of codes.
  std::vector<float> values;

  bool isNested() const { return !codes.bytes.empty(); }
  void addBuffers(std::vector<void *> &buffers) {
    if (isNested())
      buffers.push_back(codes.bytes.data());
    buffers.push_back(elements.bytes.data());
  }
  void addFormat(std::vector<int64_t> &sizes) const {
    int64_t bits = isNested() ? codes.bits : 0;
    sizes.insert(sizes.end(), {bits, codes.isSigned, blockRows, blockColumns});
  }
};

/// A product with its sizes and data.
struct Case {
  HostKernel kernel;
  std::vector<int64_t> sizes;
  Codes codes;
  std::vector<double> weight; ///< [n, k].
  Values scales, offsets;
  bool hasOffsets;
  std::vector<float> x, bias, operand, y;

  Status run(HostKernels &kernels, bool isInPlace) {
    std::vector<void *> buffers{x.data(), codes.bytes.data()};
    scales.addBuffers(buffers);
    if (hasOffsets)
      offsets.addBuffers(buffers);
    if (kernel.hasBias)
      buffers.push_back(bias.data());
    if (isInPlace)
      y = operand;
    if (kernel.postOps.size() > 1)
      buffers.push_back(isInPlace ? y.data() : operand.data());
    buffers.push_back(y.data());
    return kernels.call(0, buffers.data(), sizes.data());
  }

  std::vector<double> expect() const {
    int64_t m = sizes[0], n = sizes[1], k = sizes[2];
    std::vector<double> result;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = kernel.hasBias ? bias[j] : 0;
        for (int64_t l = 0; l < k; ++l)
          sum += static_cast<double>(x[i * k + l]) * weight[j * k + l];
        for (const PostOp &op : kernel.postOps)
          sum = evaluatePostOp(op, sum, operand[i * n + j]);
        result.push_back(sum);
      }
    return result;
  }
};
} // namespace

/// Stores a value of the type nearest to `value` and returns it.
static float append(Elements &elements, float value, bool isSigned) {
  auto add = [&](const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    elements.bytes.insert(elements.bytes.end(), bytes, bytes + size);
  };
  uint16_t half = 0;
  switch (elements.type) {
  case QuantizedElement::F32:
    add(&value, sizeof(value));
    break;
  case QuantizedElement::F16:
    half = floatToHalf(value);
    value = halfToFloat(half);
    add(&half, sizeof(half));
    break;
  case QuantizedElement::BF16: {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    half = static_cast<uint16_t>(bits >> 16);
    bits = static_cast<uint32_t>(half) << 16;
    std::memcpy(&value, &bits, sizeof(bits));
    add(&half, sizeof(half));
    break;
  }
  case QuantizedElement::Code: {
    auto code = static_cast<uint8_t>(static_cast<int>(value * 100));
    value = isSigned ? static_cast<float>(static_cast<int8_t>(code)) : static_cast<float>(code);
    add(&code, 1);
    break;
  }
  }
  elements.values.push_back(value);
  return value;
}

namespace {
/// Draws products.
class Drawer {
public:
  explicit Drawer(std::mt19937 &random) : random(random) {}

  /// Draws a product of up to `largest` elements in each dim.
  Case draw(int64_t largest) {
    Case test;
    int64_t m = pick(0, 3) ? pick(1, 6) : pick(1, 40), n = pick(1, largest), k = pick(1, largest);
    bool isTransposed = pick(0, 1);
    test.hasOffsets = pick(0, 3) != 0;
    bool hasMinima = test.hasOffsets && pick(0, 1);
    int64_t blockN = pick(0, 2) ? 1 : pick(1, n), blockK = std::vector<int64_t>{k, 16, 32, 64, pick(1, k)}[pick(0, 4)];
    auto floats = static_cast<QuantizedElement>(pick(0, 3) ? 0 : pick(1, 2));
    int64_t rows = isTransposed ? k : n, columns = isTransposed ? n : k;
    int64_t blockRows = isTransposed ? blockK : blockN, blockColumns = isTransposed ? blockN : blockK;
    int64_t down = (rows + blockRows - 1) / blockRows, across = (columns + blockColumns - 1) / blockColumns;
    test.codes = drawCodes(rows, columns);
    test.scales = drawValues(down, across, 2, test.codes.isSigned);
    if (test.hasOffsets)
      test.offsets = drawValues(down, across, hasMinima ? 2 : 3, test.codes.isSigned);
    test.weight.resize(static_cast<size_t>(n * k));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        int64_t block = row / blockRows * across + column / blockColumns;
        auto code = static_cast<float>(test.codes.at(row, column)), scale = test.scales.values[block];
        float offset = test.hasOffsets ? test.offsets.values[block] : 0;
        float value = hasMinima ? std::fma(code, scale, offset) : (code - offset) * scale;
        test.weight[isTransposed ? column * k + row : row * k + column] = round(floats, value);
      }
    auto number = [](auto value) { return static_cast<int64_t>(value); };
    test.sizes = {m,
                  n,
                  k,
                  isTransposed,
                  test.hasOffsets,
                  hasMinima,
                  number(floats),
                  test.codes.bits,
                  test.codes.isSigned,
                  blockN,
                  blockK};
    test.scales.addFormat(test.sizes);
    test.offsets.addFormat(test.sizes);
    test.sizes.push_back(number(test.scales.elements.type));
    test.sizes.push_back(number(test.offsets.elements.type));
    drawKernel(test);
    fill(test.x, m * k);
    fill(test.bias, n);
    fill(test.operand, m * n);
    test.y.resize(static_cast<size_t>(m * n));
    return test;
  }

private:
  int64_t pick(int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); }
  float number() { return std::uniform_real_distribution<float>(-1, 1)(random); }
  void fill(std::vector<float> &data, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      data.push_back(number());
  }

  static float round(QuantizedElement type, float value) {
    return type == QuantizedElement::F16    ? halfToFloat(floatToHalf(value))
           : type == QuantizedElement::BF16 ? bfloatToFloat(floatToBfloat(value))
                                            : value;
  }

  Codes drawCodes(int64_t rows, int64_t columns) {
    Codes codes{rows, columns, int64_t(2) << pick(0, 2), pick(0, 1) != 0, {}};
    for (int64_t i = 0; i < rows * codes.rowBytes(); ++i)
      codes.bytes.push_back(static_cast<uint8_t>(pick(0, 255)));
    return codes;
  }

  /// Draws a matrix of scales or offsets. mostElement: the largest number of a QuantizedElement.
  Values drawValues(int64_t rows, int64_t columns, int64_t mostElement, bool isSigned) {
    Values values;
    bool isNested = pick(0, 1);
    values.elements.type = static_cast<QuantizedElement>(pick(0, isNested ? 2 : mostElement));
    float most = 0.125f;
    if (isNested) {
      values.codes = drawCodes(rows, columns);
      values.blockRows = pick(0, 2) ? 1 : pick(1, rows);
      values.blockColumns = std::vector<int64_t>{columns, 8, 16, pick(1, columns)}[pick(0, 3)];
      most /= static_cast<float>(1 << values.codes.bits);
    }
    int64_t across = (columns + values.blockColumns - 1) / values.blockColumns;
    for (int64_t i = (rows + values.blockRows - 1) / values.blockRows * across; i > 0; --i)
      append(values.elements, number() * most, isSigned);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        float element = values.elements.values[row / values.blockRows * across + column / values.blockColumns];
        values.values.push_back(isNested ? static_cast<float>(values.codes.at(row, column)) * element : element);
      }
    return values;
  }

  void drawKernel(Case &test) {
    test.kernel.name = "product";
    test.kernel.kind = HostKernelKind::QuantizedProduct;
    test.kernel.hasBias = pick(0, 1);
    if (pick(0, 1))
      test.kernel.postOps = {PostOp{PostOpKind::Relu}, PostOp{PostOpKind::Add}};
    uint32_t weights = 2 + test.scales.isNested() + (test.hasOffsets ? 1 + test.offsets.isNested() : 0);
    test.kernel.buffers = 2 + weights + test.kernel.hasBias + (test.kernel.postOps.empty() ? 0 : 1);
    for (uint32_t buffer = 1, isWeight = pick(0, 1); isWeight && buffer <= weights; ++buffer)
      test.kernel.constants.push_back(buffer);
  }

  std::mt19937 &random;
};
} // namespace

TEST_P(RandomQuantizedProducts, AreWhatAPlainLoopGives) {
  for (int i = 0; i < 400; ++i) {
    Case test = Drawer(random).draw(i % 10 == 0 ? 300 : 70);
    auto kernels = load(test.kernel);
    ASSERT_TRUE(kernels);
    std::vector<double> wanted = test.expect();
    double largest = 0;
    for (double weight : test.weight)
      largest = std::max(largest, std::abs(weight));
    // The kernel may round to 16 bits from either side of the middle between two numbers.
    double terms = static_cast<double>(test.sizes[2]) * largest;
    double bound = 1e-6 * (static_cast<double>(test.sizes[2]) + terms) + (test.sizes[6] ? 0x1p-8 * largest : 0);
    for (bool isInPlace : {false, true}) { // The second call finds the transposed weights of the first one.
      Status status = test.run(*kernels, isInPlace);
      ASSERT_TRUE(status.isOk()) << status.message();
      ASSERT_TRUE(isClose(test.y, wanted, bound)) << "case " << i;
    }
  }
}

TEST_P(RandomQuantizedProducts, KeepExtremeScales) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  for (float factor : {0.0f, kInfinity, kNan, 1e-42f, -1e38f})
    for (bool isNan : {false, true}) {
      // One row of 64 codes, in blocks of 32 with scales of 8 bits and a factor. Code 0 of block 0 is 0.
      Case test;
      test.codes = {1, 64, 4, false, std::vector<uint8_t>(32, 0x11)};
      test.codes.bytes[0] = 0x10;
      test.scales.codes = {1, 2, 8, false, {1, 2}};
      test.scales.blockColumns = 2;
      append(test.scales.elements, factor, false);
      test.hasOffsets = false;
      test.sizes = {1, 1, 64, 0, 0, 0, 0, 4, 0, 1, 32, 8, 0, 1, 2, 0, 0, 1, 1, 0, 0};
      test.kernel.kind = HostKernelKind::QuantizedProduct;
      test.kernel.buffers = 5;
      test.x.assign(64, 0.0f);
      test.x[isNan ? 0 : 63] = 1;
      test.y.resize(1);
      auto kernels = load(test.kernel);
      ASSERT_TRUE(kernels);
      ASSERT_TRUE(test.run(*kernels, false).isOk());
      // A finite factor times 0 is 0, and any other factor makes all of the sum NaN.
      float wanted = !std::isfinite(factor) ? kNan : isNan ? 0 : factor * 2;
      if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(test.y[0])) << factor;
      else
        EXPECT_EQ(test.y[0], wanted) << factor;
    }
}

TEST_P(RandomQuantizedProducts, OverflowAsProductsWithWeightsDo) {
  for (int64_t bits : {2, 4, 8})
    for (int64_t rows : {1, 4})
      for (bool isWeightLarge : {false, true}) {
        // A row of 128 codes, all of them the largest, in blocks of 64. Either the weights or sums of codes overflow.
        float code = static_cast<float>((1 << bits) - 1), scale = isWeightLarge ? 3e38f : 0x1p-10f;
        float x = isWeightLarge ? 0 : 3e38f;
        Case test;
        test.codes = {1, 128, bits, false, std::vector<uint8_t>(static_cast<size_t>(16 * bits), 0xff)};
        append(test.scales.elements, scale, false);
        append(test.scales.elements, scale, false);
        test.hasOffsets = false;
        test.sizes = {rows, 1, 128, 0, 0, 0, 0, bits, 0, 1, 64, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0};
        test.kernel.kind = HostKernelKind::QuantizedProduct;
        test.kernel.buffers = 4;
        test.x.assign(static_cast<size_t>(rows * 128), 0.0f);
        test.x[5] = x;
        test.y.resize(static_cast<size_t>(rows));
        auto kernels = load(test.kernel);
        ASSERT_TRUE(kernels);
        ASSERT_TRUE(test.run(*kernels, false).isOk());
        for (int64_t row = 0; row < rows; ++row) {
          if (isWeightLarge)
            EXPECT_TRUE(std::isnan(test.y[row])) << bits;
          else
            EXPECT_EQ(test.y[row], row == 0 ? code * scale * x : 0) << bits;
        }
      }
}

TEST_P(RandomQuantizedProducts, RefuseSizesThatNoWeightHas) {
  Case test = Drawer(random).draw(20);
  auto kernels = load(test.kernel);
  ASSERT_TRUE(kernels);
  std::vector<std::pair<size_t, int64_t>> wrong = {{1, 0}, {3, 2}, {6, 3}, {7, 3}, {10, 0}, {11, 5}, {14, 0}, {19, 9}};
  wrong.push_back({11, test.scales.isNested() ? 0 : 8}); // Has another number of buffers.
  for (auto [number, size] : wrong) {
    Case other = test;
    other.sizes[number] = size;
    Status status = other.run(*kernels, false);
    EXPECT_FALSE(status.isOk()) << number;
    EXPECT_NE(status.message().find("expected the sizes of a product with quantized weights"), std::string::npos);
  }
}
