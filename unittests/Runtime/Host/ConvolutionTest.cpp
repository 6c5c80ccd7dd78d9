// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"

#include <array>

using namespace inlay::rt;
using namespace inlay::rt::host;

namespace {
/// A convolution of up to three spatial dims, with data. Missing dims have size 1.
struct Case {
  HostKernel kernel;
  int64_t batch, groups, inputs, outputs, dims;
  std::array<Window, 3> window;
  std::vector<std::vector<float>> buffers;

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> all = {batch, groups, inputs, outputs, dims};
    for (int64_t i = 3 - dims; i < 3; ++i)
      window[i].appendTo(all);
    return all;
  }
  int64_t places(int64_t Window::*size) const { return window[0].*size * (window[1].*size) * (window[2].*size); }

  int64_t offset(int64_t image, int64_t channel, int64_t channels, std::array<int64_t, 3> at,
                 int64_t Window::*size) const {
    int64_t place = (at[0] * (window[1].*size) + at[1]) * (window[2].*size) + at[2];
    return kernel.channelsLast ? (image * places(size) + place) * channels + channel
                               : (image * channels + channel) * places(size) + place;
  }

  Status run(HostKernels &kernels) {
    std::vector<void *> pointers;
    for (std::vector<float> &buffer : buffers)
      pointers.push_back(buffer.data());
    return kernels.call(0, pointers.data(), sizes().data());
  }
};
} // namespace

template <typename Visit>
static void forEach(const std::array<Window, 3> &window, int64_t Window::*size, const Visit &visit) {
  for (int64_t i = 0; i < window[0].*size; ++i)
    for (int64_t j = 0; j < window[1].*size; ++j)
      for (int64_t k = 0; k < window[2].*size; ++k)
        visit(std::array<int64_t, 3>{i, j, k});
}

static double sumWindow(const Case &test, int64_t image, int64_t channel, std::array<int64_t, 3> at) {
  double sum = 0;
  int64_t group = channel / test.outputs, taps = test.places(&Window::kernel), tap = 0;
  forEach(test.window, &Window::kernel, [&](std::array<int64_t, 3> k) {
    std::array<int64_t, 3> from{};
    bool isInside = true;
    for (size_t i = 0; i < 3; ++i) {
      from[i] = at[i] * test.window[i].stride + k[i] * test.window[i].dilation - test.window[i].padding;
      isInside = isInside && from[i] >= 0 && from[i] < test.window[i].input;
    }
    for (int64_t input = 0; input < test.inputs && isInside; ++input) {
      int64_t x = test.offset(image, group * test.inputs + input, test.groups * test.inputs, from, &Window::input);
      sum += static_cast<double>(test.buffers[0][x]) *
             static_cast<double>(test.buffers[1][(channel * test.inputs + input) * taps + tap]);
    }
    ++tap;
  });
  return sum;
}

static std::vector<double> expect(const Case &test) {
  std::vector<double> result(test.buffers.back().size());
  int64_t channels = test.groups * test.outputs;
  for (int64_t image = 0; image < test.batch; ++image)
    for (int64_t channel = 0; channel < channels; ++channel)
      forEach(test.window, &Window::output, [&](std::array<int64_t, 3> at) {
        int64_t place = test.offset(image, channel, channels, at, &Window::output);
        double sum = sumWindow(test, image, channel, at);
        size_t operand = 2;
        if (test.kernel.hasBias)
          sum += static_cast<double>(test.buffers[operand++][channel]);
        for (const PostOp &op : test.kernel.postOps)
          sum = evaluatePostOp(op, sum,
                               op.kind < PostOpKind::Add           ? 0
                               : op.kind < PostOpKind::AddChannels ? test.buffers[operand++][place]
                                                                   : test.buffers[operand++][channel]);
        result[place] = sum;
      });
  return result;
}

class ConvolutionTest : public KernelTest {
protected:
  Case make(bool isLarge);
  void fill(Case &test);
};
INSTANTIATE_TEST_SUITE_P(Libraries, ConvolutionTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

void ConvolutionTest::fill(Case &test) {
  int64_t channels = test.groups * test.outputs, results = test.batch * channels * test.places(&Window::output);
  test.kernel.name = "window";
  test.kernel.kind = HostKernelKind::Convolution;
  test.buffers = {numbers(test.batch * test.groups * test.inputs * test.places(&Window::input)),
                  numbers(channels * test.inputs * test.places(&Window::kernel))};
  if (test.kernel.hasBias)
    test.buffers.push_back(numbers(channels));
  for (const PostOp &op : test.kernel.postOps)
    if (op.kind >= PostOpKind::Add)
      test.buffers.push_back(numbers(op.kind >= PostOpKind::AddChannels ? channels : results));
  test.buffers.push_back(numbers(results));
  test.kernel.buffers = static_cast<uint32_t>(test.buffers.size());
}

Case ConvolutionTest::make(bool isLarge) {
  Case test;
  test.dims = pick(1, 3);
  test.kernel.channelsLast = flip();
  test.kernel.hasBias = flip();
  for (int64_t i = pick(0, 2); i > 0; --i)
    test.kernel.postOps.push_back({static_cast<PostOpKind>(pick(0, 12)), -0.5f, 0.5f});
  if (flip())
    test.kernel.constants = {1};
  bool isDepthwise = pick(0, 3) == 0;
  test.batch = pick(0, 20) == 0 ? 0 : pick(1, 3);
  test.groups = isDepthwise ? pick(2, isLarge ? 40 : 20) : pick(0, 2) == 0 ? pick(2, 3) : 1;
  test.inputs = isDepthwise ? 1 : pick(1, isLarge ? 20 : 6);
  test.outputs = isDepthwise ? pick(1, 2) : pick(1, isLarge ? 40 : 10);
  for (int64_t i = 0; i < 3; ++i) {
    Window &window = test.window[i];
    window = {1, 1, 1, 1, 1, 0};
    if (i < 3 - test.dims)
      continue;
    window = {pick(1, isLarge && test.dims < 3 ? 30 : 8), 1, pick(1, 3), pick(1, 2), pick(1, 2), pick(0, 2)};
    // The size that a framework would compute, or one more or less.
    int64_t reach = window.input + 2 * window.padding - (window.kernel - 1) * window.dilation - 1;
    window.output = std::max<int64_t>(reach < 0 ? 1 : reach / window.stride + 1 + pick(-1, 1), 1);
  }
  fill(test);
  return test;
}

TEST_P(ConvolutionTest, RandomWindowsAreWhatAPlainLoopGives) {
  for (int i = 0; i < 150; ++i) {
    Case test = make(i % 4 == 0);
    std::vector<double> wanted = expect(test);
    Status status = test.run(*load(test.kernel));
    ASSERT_TRUE(status.isOk()) << status.message();
    ASSERT_TRUE(isClose(test.buffers.back(), wanted, 2e-5)) << "case " << i;
  }
}

static Case makePlain(bool channelsLast) {
  Case test;
  test.batch = 1;
  test.groups = 1;
  test.inputs = 32;
  test.outputs = 48;
  test.dims = 2;
  test.window = {Window{1, 1, 1, 1, 1, 0}, {29, 29, 3, 1, 1, 1}, {31, 31, 3, 1, 1, 1}};
  test.kernel.channelsLast = channelsLast;
  return test;
}

TEST_P(ConvolutionTest, BitsDontDependOnThreadsWhereThatIsWanted) {
  ThreadPool &pool = ThreadPool::get();
  int64_t before = pool.threads();
  setDeterministic(true);
  for (bool channelsLast : {false, true}) {
    Case test = makePlain(channelsLast);
    fill(test);
    std::vector<float> first;
    for (int64_t threads : {1, 2, 3, 4, 8}) {
      ASSERT_TRUE(pool.setThreads(threads).isOk());
      ASSERT_TRUE(test.run(*load(test.kernel)).isOk());
      if (first.empty())
        first = test.buffers.back();
      EXPECT_TRUE(first == test.buffers.back()) << "on " << threads << " threads";
    }
  }
  setDeterministic(false);
  ASSERT_TRUE(pool.setThreads(before).isOk());
}

TEST_P(ConvolutionTest, AnOperandMayBeTheResultItself) {
  for (bool channelsLast : {false, true}) {
    Case test = makePlain(channelsLast);
    test.kernel.postOps = {{PostOpKind::Add}, {PostOpKind::Relu}};
    test.kernel.hasBias = true;
    fill(test);
    test.buffers[3] = test.buffers[4];
    std::vector<double> wanted = expect(test);
    void *pointers[] = {test.buffers[0].data(), test.buffers[1].data(), test.buffers[2].data(), test.buffers[4].data(),
                        test.buffers[4].data()};
    ASSERT_TRUE(load(test.kernel)->call(0, pointers, test.sizes().data()).isOk());
    EXPECT_TRUE(isClose(test.buffers[4], wanted, 2e-5));
  }
}

TEST_P(ConvolutionTest, ConstantsAreKeptUntilForgotten) {
  Case test = makePlain(true);
  test.kernel.constants = {1};
  fill(test);
  auto kernels = load(test.kernel);
  ASSERT_TRUE(test.run(*kernels).isOk());
  std::vector<float> before = test.buffers[2];
  std::fill(test.buffers[1].begin(), test.buffers[1].end(), 0.0f);
  ASSERT_TRUE(test.run(*kernels).isOk());
  EXPECT_EQ(test.buffers[2], before);
  kernels->forgetConstants();
  ASSERT_TRUE(test.run(*kernels).isOk());
  EXPECT_EQ(test.buffers[2], std::vector<float>(before.size(), 0.0f));
}

TEST_P(ConvolutionTest, WrongSizesAreErrors) {
  Case test = makePlain(true);
  fill(test);
  auto kernels = load(test.kernel);
  test.window[1].stride = 0;
  EXPECT_EQ(test.run(*kernels).message(),
            "kernel 'window': expected a stride of a convolution from 1 to 2147483647, but got 0");
  test.window[1].stride = 1;
  test.window[1].input = test.window[2].input = 1 << 30;
  EXPECT_EQ(test.run(*kernels).message(), "kernel 'window': expected the bytes of a buffer below 2^63");
  test.dims = 4;
  int64_t sizes[] = {1, 1, 1, 1, 4};
  EXPECT_EQ(kernels->call(0, nullptr, sizes).message(),
            "kernel 'window': expected a convolution of 1 to 3 spatial dims, but got 4");
}
