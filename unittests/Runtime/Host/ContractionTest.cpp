// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"

#include <algorithm>
#include <numeric>

using namespace inlay::rt;
using namespace inlay::rt::host;

using ContractionTest = KernelTest;
INSTANTIATE_TEST_SUITE_P(Libraries, ContractionTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

namespace {
/// A contraction with data: loops with their sizes, and the loops of each buffer.
struct Case {
  HostKernel kernel;
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides; ///< Indexed by [loop][buffer].
  std::vector<std::vector<float>> buffers;

  std::vector<int64_t> flat() const {
    std::vector<int64_t> all;
    for (size_t loop = 0; loop < sizes.size(); ++loop) {
      all.push_back(sizes[loop]);
      all.insert(all.end(), strides[loop].begin(), strides[loop].end());
    }
    return all;
  }

  Status run(HostKernels &kernels) {
    std::vector<void *> pointers;
    for (std::vector<float> &buffer : buffers)
      pointers.push_back(buffer.data());
    return kernels.call(0, pointers.data(), flat().data());
  }
};
} // namespace

/// Calls `visit` with the offset of each buffer for each index of the loops for which `isWanted` is true.
template <typename Wanted, typename Visit>
static void forEach(const Case &test, size_t loop, std::vector<int64_t> &offsets, const Wanted &isWanted,
                    const Visit &visit) {
  if (loop == test.sizes.size())
    return visit();
  if (!isWanted(loop))
    return forEach(test, loop + 1, offsets, isWanted, visit);
  std::vector<int64_t> before = offsets;
  for (int64_t i = 0; i < test.sizes[loop]; ++i) {
    for (size_t buffer = 0; buffer < offsets.size(); ++buffer)
      offsets[buffer] = before[buffer] + i * test.strides[loop][buffer];
    forEach(test, loop + 1, offsets, isWanted, visit);
  }
  offsets = before;
}

static std::vector<double> expect(const Case &test) {
  size_t c = test.buffers.size() - 1;
  std::vector<double> result(test.buffers[c].begin(), test.buffers[c].end());
  std::vector<int64_t> offsets(test.buffers.size(), 0);
  auto isSummed = [&](size_t loop) { return test.strides[loop][c] == 0; };
  auto at = [&](size_t buffer) { return static_cast<double>(test.buffers[buffer][offsets[buffer]]); };
  forEach(
      test, 0, offsets, [&](size_t loop) { return !isSummed(loop); },
      [&] {
        double sum = test.kernel.accumulates ? at(c) : 0;
        std::vector<int64_t> outer = offsets;
        forEach(test, 0, offsets, isSummed, [&] { sum += at(0) * at(1); });
        offsets = outer;
        size_t operand = 2;
        if (test.kernel.hasBias)
          sum += at(operand++);
        for (const PostOp &op : test.kernel.postOps)
          sum = evaluatePostOp(op, sum, op.kind >= PostOpKind::Add ? at(operand++) : 0);
        result[offsets[c]] = sum;
      });
  return result;
}

/// Gives a buffer memory and strides for `loops` in this order, the last one innermost.
static void layOut(Case &test, size_t buffer, const std::vector<size_t> &loops, KernelTest &, std::vector<float> data) {
  int64_t stride = 1;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    test.strides[*loop][buffer] = stride;
    stride *= std::max<int64_t>(test.sizes[*loop], 1);
  }
  test.buffers[buffer] = std::move(data);
}

class RandomContraction : public ContractionTest {
protected:
  Case make(int64_t largest);
};
using RandomContractions = RandomContraction;
INSTANTIATE_TEST_SUITE_P(Libraries, RandomContractions, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

Case RandomContraction::make(int64_t largest) {
  Case test;
  size_t loops = static_cast<size_t>(pick(1, 5));
  test.kernel.name = "product";
  test.kernel.kind = HostKernelKind::Contraction;
  test.kernel.loops = static_cast<uint32_t>(loops);
  test.kernel.hasBias = flip();
  test.kernel.accumulates = pick(0, 3) == 0;
  uint32_t operands = test.kernel.hasBias;
  for (int64_t i = pick(0, 2); i > 0; --i) {
    PostOp op{static_cast<PostOpKind>(pick(0, 10)), -0.5f, 0.5f};
    operands += op.kind >= PostOpKind::Add;
    test.kernel.postOps.push_back(op);
  }
  test.kernel.buffers = 3 + operands;
  for (uint32_t constant : {0u, 1u})
    if (pick(0, 2) == 0)
      test.kernel.constants.push_back(constant);
  test.buffers.resize(test.kernel.buffers);
  std::vector<int64_t> roles;
  for (size_t loop = 0; loop < loops; ++loop) {
    test.sizes.push_back(pick(0, 40) == 0 ? 0 : pick(0, 4) == 0 ? 1 : pick(1, largest));
    test.strides.emplace_back(test.kernel.buffers, 0);
    roles.push_back(pick(0, 15) == 0 ? pick(1, 7) : std::vector<int64_t>{3, 5, 6, 7}[pick(0, 3)]); // bits: A, B, C
  }
  for (uint32_t buffer = 0; buffer < test.kernel.buffers; ++buffer) {
    bool isC = buffer + 1 == test.kernel.buffers;
    int64_t bit = buffer == 0 ? 1 : buffer == 1 ? 2 : 4;
    std::vector<size_t> has;
    int64_t count = 1;
    for (size_t loop = 0; loop < loops; ++loop)
      if ((roles[loop] & bit) && (buffer < 2 || isC || pick(0, 3) != 0)) {
        has.push_back(loop);
        count *= std::max<int64_t>(test.sizes[loop], 1);
      }
    if (flip())
      std::shuffle(has.begin(), has.end(), random);
    layOut(test, buffer, has, *this, numbers(count));
  }
  return test;
}

TEST_P(RandomContractions, AreWhatAPlainLoopGives) {
  for (int i = 0; i < 300; ++i) {
    Case test = make(i % 10 == 0 ? 40 : 9);
    std::vector<double> wanted = expect(test);
    auto kernels = load(test.kernel);
    ASSERT_TRUE(kernels);
    Status status = test.run(*kernels);
    ASSERT_TRUE(status.isOk()) << status.message();
    ASSERT_TRUE(isClose(test.buffers.back(), wanted, 2e-5)) << "case " << i;
  }
}

/// Returns a product [m, k] [k, n]. In B n is adjacent, or k if `isTransposed`.
static Case makeProduct(KernelTest &, int64_t m, int64_t n, int64_t k, bool isTransposed, std::vector<float> a,
                        std::vector<float> b) {
  Case test;
  test.kernel.name = "product";
  test.kernel.kind = HostKernelKind::Contraction;
  test.kernel.loops = 3;
  test.kernel.buffers = 3;
  test.sizes = {m, n, k};
  test.strides = {{k, 0, n}, {0, isTransposed ? k : 1, 1}, {1, isTransposed ? 1 : n, 0}};
  test.buffers = {std::move(a), std::move(b), std::vector<float>(static_cast<size_t>(m * n))};
  return test;
}

TEST_P(ContractionTest, BitsDontDependOnThreadsWhereThatIsWanted) {
  setDeterministic(true);
  ThreadPool &pool = ThreadPool::get();
  int64_t before = pool.threads();
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{300, 70, 129}, {65, 515, 64}, {1, 1000, 333}, {129, 129, 700}, {700, 9, 31}})
    for (bool isTransposed : {false, true})
      for (bool isConstant : {false, true}) {
        Case test = makeProduct(*this, m, n, k, isTransposed, numbers(m * k), numbers(n * k));
        if (isConstant)
          test.kernel.constants = {1};
        std::vector<float> first;
        for (int64_t threads : {1, 2, 3, 4, 8}) {
          ASSERT_TRUE(pool.setThreads(threads).isOk());
          ASSERT_TRUE(test.run(*load(test.kernel)).isOk());
          if (first.empty())
            first = test.buffers[2];
          EXPECT_TRUE(first == test.buffers[2]) << m << "x" << n << "x" << k << " on " << threads << " threads";
        }
      }
  ASSERT_TRUE(pool.setThreads(before).isOk());
  setDeterministic(false);
}

TEST_P(ContractionTest, ConstantsAreKeptUntilForgotten) {
  Case test = makeProduct(*this, 40, 300, 50, true, numbers(2000), numbers(15000));
  test.kernel.constants = {1};
  auto kernels = load(test.kernel);
  ASSERT_TRUE(test.run(*kernels).isOk());
  std::vector<float> before = test.buffers[2];
  test.buffers[1].assign(15000, 0.0f); // not allowed without forgetConstants, so the result must not change
  ASSERT_TRUE(test.run(*kernels).isOk());
  EXPECT_EQ(test.buffers[2], before);
  kernels->forgetConstants();
  ASSERT_TRUE(test.run(*kernels).isOk());
  EXPECT_EQ(test.buffers[2], std::vector<float>(12000, 0.0f));
}

TEST_P(ContractionTest, NaNAndInfinitiesPropagate) {
  for (PostOpKind kind : {PostOpKind::Relu, PostOpKind::Clip, PostOpKind::Gelu, PostOpKind::Silu, PostOpKind::Tanh}) {
    Case test = makeProduct(*this, 20, 40, 30, false, numbers(600), numbers(1200));
    test.kernel.postOps = {{kind, -0.5f, 0.5f}};
    test.buffers[0][3] = NAN;
    test.buffers[0][35] = INFINITY;
    std::vector<double> wanted = expect(test);
    ASSERT_TRUE(test.run(*load(test.kernel)).isOk());
    EXPECT_TRUE(isClose(test.buffers[2], wanted, 2e-5)) << name(kind);
  }
}

TEST_P(ContractionTest, AnOperandMayBeTheResultItself) {
  for (bool accumulates : {false, true}) {
    Case test = makeProduct(*this, 70, 300, 20, false, numbers(1400), numbers(6000));
    test.kernel.postOps = {{PostOpKind::Relu}, {PostOpKind::Add}};
    test.kernel.buffers = 4;
    test.kernel.accumulates = accumulates;
    for (std::vector<int64_t> &strides : test.strides)
      strides.push_back(strides[2]);
    test.buffers.push_back(numbers(21000));
    test.buffers[2] = test.buffers[3];
    std::vector<double> wanted = expect(test);
    void *pointers[] = {test.buffers[0].data(), test.buffers[1].data(), test.buffers[3].data(), test.buffers[3].data()};
    ASSERT_TRUE(load(test.kernel)->call(0, pointers, test.flat().data()).isOk());
    EXPECT_TRUE(isClose(test.buffers[3], wanted, 2e-5));
  }
}

TEST_P(ContractionTest, WrongSizesAreErrors) {
  Case test = makeProduct(*this, 2, 2, 2, false, numbers(4), numbers(4));
  auto kernels = load(test.kernel);
  test.sizes[1] = -1;
  Status status = test.run(*kernels);
  EXPECT_EQ(status.message(), "kernel 'product': expected sizes and strides of at least 0, but loop 1 has size -1 and "
                              "stride 0");
  test.sizes = {int64_t(1) << 40, int64_t(1) << 40, 2};
  EXPECT_EQ(test.run(*kernels).message(), "kernel 'product': expected a product of sizes below 2^63");
  test.sizes = {int64_t(1) << 40, 2, 2};
  test.strides[0][0] = int64_t(1) << 40;
  EXPECT_EQ(test.run(*kernels).message(), "kernel 'product': expected the bytes of a buffer below 2^63");
}

TEST_P(ContractionTest, AWrongNumberOfBuffersIsAnError) {
  HostFunction function;
  HostKernel kernel;
  kernel.name = "product";
  kernel.kind = HostKernelKind::Contraction;
  kernel.loops = 1;
  kernel.buffers = 3;
  kernel.hasBias = true;
  function.kernels = {kernel};
  auto kernels = makeHostKernels(function, library());
  EXPECT_EQ(kernels.status().message(), "kernel 'product': expected a contraction of 4 buffers, at most 32, but got 3");
}
