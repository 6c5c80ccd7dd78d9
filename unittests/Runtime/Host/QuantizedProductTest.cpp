// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <algorithm>
#include <cstring>

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

/// A product with its sizes and data.
struct Case {
  HostKernel kernel;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> codes;
  std::vector<double> weight; ///< [n, k].
  Elements scales, offsets;
  std::vector<float> x, bias, operand, y;

  Status run(HostKernels &kernels, bool isInPlace) {
    std::vector<void *> buffers{x.data(), codes.data(), scales.bytes.data()};
    if (!offsets.bytes.empty())
      buffers.push_back(offsets.bytes.data());
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

/// Draws a product of up to `largest` elements in each dim.
static Case draw(std::mt19937 &random, int64_t largest) {
  auto pick = [&](int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); };
  auto number = [&] { return std::uniform_real_distribution<float>(-1, 1)(random); };
  Case test;
  int64_t m = pick(0, 3) ? pick(1, 6) : pick(1, 40), n = pick(1, largest), k = pick(1, largest);
  int64_t bits = int64_t(2) << pick(0, 2);
  bool isSigned = pick(0, 1), isTransposed = pick(0, 1), hasOffsets = pick(0, 3) != 0;
  bool hasMinima = hasOffsets && pick(0, 1);
  int64_t blockN = pick(0, 2) ? 1 : pick(1, n), blockK = std::vector<int64_t>{k, 16, 32, 64, pick(1, k)}[pick(0, 4)];
  test.scales.type = static_cast<QuantizedElement>(pick(0, 2));
  test.offsets.type = static_cast<QuantizedElement>(pick(0, hasMinima ? 2 : 3));
  int64_t rows = isTransposed ? k : n, columns = isTransposed ? n : k;
  int64_t blockRows = isTransposed ? blockK : blockN, blockColumns = isTransposed ? blockN : blockK;
  int64_t acrossBlocks = (columns + blockColumns - 1) / blockColumns;
  for (int64_t i = (rows + blockRows - 1) / blockRows * acrossBlocks; i > 0; --i) {
    append(test.scales, number() / 8, isSigned);
    if (hasOffsets)
      append(test.offsets, number(), isSigned);
  }
  int64_t rowBytes = (columns * bits + 7) / 8;
  for (int64_t i = 0; i < rows * rowBytes; ++i)
    test.codes.push_back(static_cast<uint8_t>(pick(0, 255)));
  test.weight.resize(static_cast<size_t>(n * k));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t bit = column * bits, block = row / blockRows * acrossBlocks + column / blockColumns;
      double code = (test.codes[row * rowBytes + bit / 8] >> bit % 8) & ((1 << bits) - 1);
      if (isSigned && code >= 1 << (bits - 1))
        code -= 1 << bits;
      double scale = test.scales.values[block], offset = hasOffsets ? test.offsets.values[block] : 0;
      test.weight[isTransposed ? column * k + row : row * k + column] =
          hasMinima ? code * scale + offset : (code - offset) * scale;
    }
  test.sizes = {m,
                n,
                k,
                blockN,
                blockK,
                bits,
                isSigned,
                static_cast<int64_t>(test.scales.type),
                static_cast<int64_t>(test.offsets.type),
                isTransposed,
                hasMinima};
  test.kernel.name = "product";
  test.kernel.kind = HostKernelKind::QuantizedProduct;
  test.kernel.hasBias = pick(0, 1);
  if (pick(0, 1))
    test.kernel.postOps = {PostOp{PostOpKind::Relu}, PostOp{PostOpKind::Add}};
  test.kernel.buffers = 4 + hasOffsets + test.kernel.hasBias + (test.kernel.postOps.empty() ? 0 : 1);
  if (pick(0, 1))
    test.kernel.constants = {1, 2, 3};
  auto fill = [&](std::vector<float> &data, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      data.push_back(number());
  };
  fill(test.x, m * k);
  fill(test.bias, n);
  fill(test.operand, m * n);
  test.y.resize(static_cast<size_t>(m * n));
  return test;
}

TEST_P(RandomQuantizedProducts, AreWhatAPlainLoopGives) {
  for (int i = 0; i < 200; ++i) {
    Case test = draw(random, i % 10 == 0 ? 300 : 70);
    auto kernels = load(test.kernel);
    ASSERT_TRUE(kernels);
    std::vector<double> wanted = test.expect();
    for (bool isInPlace : {false, true}) { // The second call finds the transposed weights of the first one.
      Status status = test.run(*kernels, isInPlace);
      ASSERT_TRUE(status.isOk()) << status.message();
      double terms = 0;
      for (double weight : test.weight)
        terms = std::max(terms, std::abs(weight));
      ASSERT_TRUE(isClose(test.y, wanted, 1e-6 * static_cast<double>(test.sizes[2]) * (1 + terms))) << "case " << i;
    }
  }
}

TEST_P(RandomQuantizedProducts, RefuseSizesThatNoWeightHas) {
  Case test = draw(random, 20);
  auto kernels = load(test.kernel);
  ASSERT_TRUE(kernels);
  for (size_t wrong : {size_t(1), size_t(3), size_t(5), size_t(7)}) {
    Case other = test;
    other.sizes[wrong] = wrong == 5 ? 3 : wrong == 7 ? 9 : 0;
    Status status = other.run(*kernels, false);
    EXPECT_FALSE(status.isOk());
    EXPECT_NE(status.message().find("expected the sizes of a product with quantized weights"), std::string::npos);
  }
}
