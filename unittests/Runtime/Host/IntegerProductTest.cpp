// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"

#include <cstring>

using namespace inlay::rt;
using namespace inlay::rt::host;

namespace {
/// A product or convolution with its data.
struct Case {
  HostKernel kernel;
  IntegerSizes sizes{};
  std::vector<Window> windows;
  std::vector<uint8_t> input, weight;
  std::vector<float> inputScales, weightScales;
  std::vector<uint8_t> inputCodes, weightCodes; ///< Offsets.
  std::vector<float> inputFloats, weightFloats; ///< Offsets.
  std::vector<float> bias, operand;
  float resultScale = 0.3f, resultFloat = 3;

  int64_t outputs() const { return sizes.groups * sizes.outputs; }
  int64_t places(bool isInput) const {
    int64_t count = 1;
    for (const Window &window : windows)
      count *= isInput ? window.input : window.output;
    return count;
  }
  int64_t elements() const { return sizes.batch * outputs() * places(false); }
  bool has(IntegerResult kind) const { return sizes.result == static_cast<int64_t>(kind); }

  Status run(HostKernels &kernels, void *result) const {
    std::vector<const void *> buffers{input.data(), inputScales.data()};
    auto addOffsets = [&](int64_t kind, const std::vector<float> &floats, const std::vector<uint8_t> &codes) {
      if (kind != static_cast<int64_t>(IntegerOffsets::None))
        buffers.push_back(kind == static_cast<int64_t>(IntegerOffsets::Floats)
                              ? static_cast<const void *>(floats.data())
                              : codes.data());
    };
    addOffsets(sizes.inputOffsets, inputFloats, inputCodes);
    buffers.insert(buffers.end(), {weight.data(), weightScales.data()});
    addOffsets(sizes.weightOffsets, weightFloats, weightCodes);
    if (kernel.hasBias)
      buffers.push_back(bias.data());
    for (const PostOp &op : kernel.postOps)
      if (op.kind == PostOpKind::Add)
        buffers.push_back(operand.data());
    if (has(IntegerResult::Codes)) {
      buffers.push_back(&resultScale);
      if (sizes.resultOffsets)
        buffers.push_back(&resultFloat);
    }
    buffers.push_back(result);
    std::vector<int64_t> numbers(kIntegerSizes);
    std::memcpy(numbers.data(), &sizes, sizeof(sizes));
    for (const Window &window : windows)
      window.appendTo(numbers);
    return kernels.call(0, const_cast<void *const *>(reinterpret_cast<const void *const *>(buffers.data())),
                        numbers.data());
  }

  static int64_t valueOf(uint8_t code, bool isSigned) { return isSigned ? static_cast<int8_t>(code) : int64_t(code); }

  int64_t offset(int64_t kind, bool isSigned, const std::vector<float> &floats, const std::vector<uint8_t> &codes,
                 int64_t index) const {
    return kind == static_cast<int64_t>(IntegerOffsets::None)     ? 0
           : kind == static_cast<int64_t>(IntegerOffsets::Floats) ? static_cast<int64_t>(floats[index])
                                                                  : valueOf(codes[index], isSigned);
  }

  /// Returns the exact sum of a place of the result.
  int64_t sum(int64_t image, int64_t output, int64_t place) const {
    Window one{1, 1, 1, 1, 1, 0}, y = windows.size() > 1 ? windows[0] : one, x = windows.empty() ? one : windows.back();
    int64_t group = output / sizes.outputs, inputs = sizes.inputs, total = 0;
    int64_t zero = offset(sizes.inputOffsets, sizes.isInputSigned, inputFloats, inputCodes, sizes.isPerRow ? image : 0);
    int64_t weightZero =
        offset(sizes.weightOffsets, sizes.isWeightSigned, weightFloats, weightCodes, sizes.isPerChannel ? output : 0);
    for (int64_t channel = 0; channel < inputs; ++channel)
      for (int64_t ky = 0; ky < y.kernel; ++ky)
        for (int64_t kx = 0; kx < x.kernel; ++kx) {
          int64_t iy = place / x.output * y.stride + ky * y.dilation - y.padding;
          int64_t ix = place % x.output * x.stride + kx * x.dilation - x.padding;
          if (iy < 0 || iy >= y.input || ix < 0 || ix >= x.input)
            continue;
          int64_t from = ((image * sizes.groups + group) * inputs + channel) * places(true) + iy * x.input + ix;
          int64_t at = sizes.isWeightTransposed ? channel * outputs() + output
                                                : ((output * inputs + channel) * y.kernel + ky) * x.kernel + kx;
          total += (valueOf(input[from], sizes.isInputSigned) - zero) *
                   (valueOf(weight[at], sizes.isWeightSigned) - weightZero);
        }
    return total;
  }

  /// Returns the number at a place of the result before it is quantized.
  float number(int64_t image, int64_t output, int64_t place, int64_t element) const {
    float scale = inputScales[sizes.isPerRow ? image : 0] * weightScales[sizes.isPerChannel ? output : 0];
    float result = static_cast<float>(sum(image, output, place)) * scale;
    if (kernel.hasBias)
      result += bias[output];
    for (const PostOp &op : kernel.postOps)
      result = op.kind == PostOpKind::Add ? result + operand[element] : std::max(result, 0.0f);
    return result;
  }

  /// Calls `visit` with the image, output, place and element of each result.
  template <typename Visit>
  void forEach(const Visit &visit) const {
    for (int64_t image = 0, element = 0; image < sizes.batch; ++image)
      for (int64_t output = 0; output < outputs(); ++output)
        for (int64_t place = 0; place < places(false); ++place, ++element)
          visit(image, output, place, element);
  }
};

/// Fills the data of a case for its sizes.
class Drawer {
public:
  explicit Drawer(std::mt19937 &random) : random(random) {}

  int64_t pick(int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); }

  std::vector<uint8_t> bytes(int64_t count) {
    std::vector<uint8_t> made(static_cast<size_t>(count));
    bool isExtreme = pick(0, 3) == 0; // -128 and -1, or 128 and 255
    for (uint8_t &byte : made)
      byte = static_cast<uint8_t>(isExtreme ? (pick(0, 1) ? 128 : 255) : pick(0, 255));
    return made;
  }

  std::vector<float> floats(int64_t count, float low, float high) {
    std::vector<float> made(static_cast<size_t>(count));
    for (float &value : made)
      value = std::uniform_real_distribution<float>(low, high)(random);
    return made;
  }

  std::vector<float> integers(int64_t count) {
    std::vector<float> made(static_cast<size_t>(count));
    for (float &value : made)
      value = static_cast<float>(pick(-128, 255));
    return made;
  }

  void fill(Case &test) {
    IntegerSizes &sizes = test.sizes;
    sizes.isInputSigned = pick(0, 1), sizes.isWeightSigned = pick(0, 1);
    sizes.inputOffsets = pick(0, 2), sizes.weightOffsets = pick(0, 2);
    sizes.isPerChannel = pick(0, 1);
    sizes.result = pick(0, 2);
    int64_t window = 1;
    for (const Window &w : test.windows)
      window *= w.kernel;
    int64_t scales = sizes.isPerRow ? sizes.batch : 1, columns = sizes.isPerChannel ? test.outputs() : 1;
    test.input = bytes(sizes.batch * sizes.groups * sizes.inputs * test.places(true));
    test.weight = bytes(test.outputs() * sizes.inputs * window);
    test.inputScales = floats(scales, 0.001f, 0.01f), test.weightScales = floats(columns, 0.001f, 0.01f);
    test.inputCodes = bytes(scales), test.weightCodes = bytes(columns);
    test.inputFloats = integers(scales), test.weightFloats = integers(columns);
    if (test.has(IntegerResult::Codes)) {
      sizes.isResultSigned = pick(0, 1), sizes.isInverse = pick(0, 1);
      sizes.resultOffsets = pick(0, 1);
      sizes.low = sizes.isResultSigned ? -127 : 0, sizes.high = sizes.isResultSigned ? 127 : 255;
    }
    if (!test.has(IntegerResult::F64)) {
      test.kernel.hasBias = pick(0, 1);
      if (pick(0, 1))
        test.kernel.postOps.push_back({PostOpKind::Add});
      if (pick(0, 1))
        test.kernel.postOps.push_back({PostOpKind::Relu});
    }
    test.bias = floats(test.outputs(), -1, 1), test.operand = floats(test.elements(), -1, 1);
    test.kernel.kind = HostKernelKind::IntegerProduct;
    test.kernel.buffers =
        static_cast<uint32_t>(5 + (sizes.inputOffsets > 0) + (sizes.weightOffsets > 0) + test.kernel.hasBias +
                              test.has(IntegerResult::Codes) + (sizes.resultOffsets > 0));
    for (const PostOp &op : test.kernel.postOps)
      test.kernel.buffers += op.kind == PostOpKind::Add;
    if (pick(0, 1))
      test.kernel.constants = {sizes.inputOffsets ? 3u : 2u};
  }

  Case product() {
    Case test;
    test.sizes.batch = pick(1, 60), test.sizes.groups = 1;
    test.sizes.inputs = pick(1, 70), test.sizes.outputs = pick(1, 80);
    test.sizes.isWeightTransposed = pick(0, 1), test.sizes.isPerRow = pick(0, 1);
    fill(test);
    return test;
  }

  Case convolution() {
    Case test;
    test.sizes.batch = pick(1, 2), test.sizes.groups = pick(0, 2) ? 1 : pick(2, 3);
    test.sizes.inputs = pick(1, 10), test.sizes.outputs = pick(1, 20);
    test.sizes.dims = pick(1, 2);
    for (int64_t i = 0; i < test.sizes.dims; ++i) {
      Window w{pick(1, 9), 0, pick(1, 3), pick(1, 3), pick(1, 2), pick(0, 2)};
      int64_t extent = (w.kernel - 1) * w.dilation + 1;
      w.input = std::max(w.input, extent - 2 * w.padding);
      w.output = (w.input + 2 * w.padding - extent) / w.stride + 1;
      test.windows.push_back(w);
    }
    fill(test);
    return test;
  }

private:
  std::mt19937 &random;
};

class IntegerProducts : public testing::Test {
protected:
  static std::unique_ptr<HostKernels> load(const Case &test) { return loadKernel(test.kernel, portableLibrary()); }

  std::mt19937 random{12345};
  Drawer drawer{random};
};
} // namespace

static uint8_t quantize(const Case &test, float number) {
  float level = std::nearbyint(test.sizes.isInverse ? number * test.resultScale : number / test.resultScale);
  if (test.sizes.resultOffsets)
    level += test.resultFloat;
  level = std::min(std::max(level, static_cast<float>(test.sizes.low)), static_cast<float>(test.sizes.high));
  return static_cast<uint8_t>(static_cast<int>(level));
}

/// Runs a case and expects each element to have the bits of its definition.
static void check(const Case &test, HostKernels &kernels) {
  std::vector<double> result(static_cast<size_t>(test.elements()));
  Status status = test.run(kernels, result.data());
  ASSERT_TRUE(status.isOk()) << status.message();
  test.forEach([&](int64_t image, int64_t output, int64_t place, int64_t element) {
    if (test.has(IntegerResult::F64)) {
      float scale =
          test.inputScales[test.sizes.isPerRow ? image : 0] * test.weightScales[test.sizes.isPerChannel ? output : 0];
      ASSERT_EQ(result[element], static_cast<double>(test.sum(image, output, place)) * scale) << element;
      return;
    }
    float number = test.number(image, output, place, element);
    if (test.has(IntegerResult::F32))
      ASSERT_EQ(reinterpret_cast<const float *>(result.data())[element], number) << element;
    else
      ASSERT_EQ(reinterpret_cast<const uint8_t *>(result.data())[element], quantize(test, number)) << element;
  });
}

TEST_F(IntegerProducts, OfMatricesHaveExactSums) {
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    Case test = drawer.product();
    auto kernels = load(test);
    check(test, *kernels);
    check(test, *kernels); // with the packed weight
  }
}

TEST_F(IntegerProducts, OfWindowsHaveExactSums) {
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    Case test = drawer.convolution();
    check(test, *load(test));
  }
}

TEST_F(IntegerProducts, DoNotOverflowInLongSums) {
  Case test;
  test.sizes.batch = 2, test.sizes.groups = 1, test.sizes.inputs = 100001, test.sizes.outputs = 3;
  drawer.fill(test);
  test.sizes.isInputSigned = 0, test.sizes.isWeightSigned = 0;
  test.sizes.inputOffsets = test.sizes.weightOffsets = 0, test.sizes.result = 0;
  test.kernel.hasBias = false, test.kernel.postOps.clear(), test.kernel.constants.clear();
  test.kernel.buffers = 5;
  std::fill(test.input.begin(), test.input.end(), uint8_t(255));
  std::fill(test.weight.begin(), test.weight.end(), uint8_t(255));
  EXPECT_GT(test.sum(0, 0, 0), int64_t(1) << 32);
  check(test, *load(test));
}

TEST_F(IntegerProducts, RefuseZeroPointsThatAreNoIntegers) {
  Case test = drawer.product();
  while (test.sizes.inputOffsets != static_cast<int64_t>(IntegerOffsets::Floats))
    test = drawer.product();
  auto kernels = load(test);
  std::vector<double> result(static_cast<size_t>(test.elements()));
  for (float wrong : {0.5f, 1e6f, std::nanf("")}) {
    test.inputFloats.back() = wrong;
    Status status = test.run(*kernels, result.data());
    EXPECT_NE(status.message().find("expected zero points of activations to be integers"), std::string::npos);
  }
}

TEST_F(IntegerProducts, RefuseSizesThatNoProductHas) {
  Case test = drawer.product();
  auto kernels = load(test);
  std::vector<double> result(static_cast<size_t>(test.elements()));
  auto refuses = [&](int64_t IntegerSizes::*size, int64_t value) {
    Case other = test;
    other.sizes.*size = value;
    Status status = other.run(*kernels, result.data());
    return status.message().find("expected the sizes of a product of integers") != std::string::npos;
  };
  EXPECT_TRUE(refuses(&IntegerSizes::inputs, 0));
  EXPECT_TRUE(refuses(&IntegerSizes::outputs, -1));
  EXPECT_TRUE(refuses(&IntegerSizes::dims, 3));
  EXPECT_TRUE(refuses(&IntegerSizes::inputOffsets, 3));
  EXPECT_TRUE(refuses(&IntegerSizes::result, 9));
}
