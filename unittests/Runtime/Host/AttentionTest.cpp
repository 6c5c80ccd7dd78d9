// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"

#include <array>
#include <cstring>

using namespace inlay::rt;
using namespace inlay::rt::host;

namespace {
using Strides = std::array<int64_t, 4>;

struct Case {
  HostKernel kernel;
  int64_t batch = 1, heads = 1, queries = 1, keys = 1, keyChannels = 1, valueChannels = 1;
  Strides q{}, k{}, v{}, mask{}, o{};
  std::vector<float> qs, ks, vs, added, result;
  std::vector<uint8_t> selected;

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> all = {batch, heads, queries, keys, keyChannels, valueChannels};
    for (const Strides *strides : {&q, &k, &v, &mask, &o})
      if (strides != &mask || kernel.mask != MaskKind::None)
        all.insert(all.end(), strides->begin(), strides->end());
    return all;
  }

  Status run(HostKernels &kernels) {
    std::vector<void *> pointers = {qs.data(), ks.data(), vs.data()};
    if (kernel.mask == MaskKind::Added)
      pointers.push_back(added.data());
    if (kernel.mask == MaskKind::Selected)
      pointers.push_back(selected.data());
    pointers.push_back(result.data());
    return kernels.call(0, pointers.data(), sizes().data());
  }
};
} // namespace

static int64_t at(const Strides &strides, int64_t batch, int64_t head, int64_t row, int64_t column) {
  return batch * strides[0] + head * strides[1] + row * strides[2] + column * strides[3];
}

/// Returns the weights of the keys for one query.
static std::vector<double> weigh(const Case &test, int64_t batch, int64_t head, int64_t query) {
  std::vector<double> scores;
  double largest = -INFINITY, sum = 0;
  for (int64_t key = 0; key < test.keys; ++key) {
    double score = 0;
    for (int64_t i = 0; i < test.keyChannels; ++i)
      score += static_cast<double>(test.qs[at(test.q, batch, head, query, i)]) *
               static_cast<double>(test.ks[at(test.k, batch, head, key, i)]);
    score *= test.kernel.scale;
    if (test.kernel.mask == MaskKind::Added)
      score += static_cast<double>(test.added[at(test.mask, batch, head, query, key)]);
    if (test.kernel.mask == MaskKind::Selected && !test.selected[at(test.mask, batch, head, query, key)])
      score = -INFINITY;
    if (test.kernel.isCausal && key > query)
      score = -INFINITY;
    scores.push_back(score);
    largest = std::max(largest, score);
  }
  for (double &score : scores) {
    score = std::exp(score - (largest == -INFINITY ? 0 : largest));
    sum += score;
  }
  for (double &score : scores)
    score = sum == 0 ? 0 : score / sum;
  return scores;
}

static std::vector<double> expect(const Case &test) {
  std::vector<double> result(test.result.begin(), test.result.end());
  for (int64_t batch = 0; batch < test.batch; ++batch)
    for (int64_t head = 0; head < test.heads; ++head)
      for (int64_t query = 0; query < test.queries; ++query) {
        std::vector<double> weights = weigh(test, batch, head, query);
        for (int64_t i = 0; i < test.valueChannels; ++i) {
          double sum = 0;
          for (int64_t key = 0; key < test.keys; ++key)
            sum += weights[key] * static_cast<double>(test.vs[at(test.v, batch, head, key, i)]);
          result[at(test.o, batch, head, query, i)] = sum;
        }
      }
  return result;
}

class AttentionTest : public KernelTest {
protected:
  Case make(int64_t queries, int64_t keys);
};
INSTANTIATE_TEST_SUITE_P(Libraries, AttentionTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

/// Returns strides of [batch, heads, rows, columns] or [batch, rows, heads, columns].
static Strides layOut(bool headsInside, int64_t heads, int64_t rows, int64_t columns) {
  return headsInside ? Strides{rows * heads * columns, columns, heads * columns, 1}
                     : Strides{heads * rows * columns, rows * columns, columns, 1};
}

Case AttentionTest::make(int64_t queries, int64_t keys) {
  Case test;
  test.kernel.name = "attention";
  test.kernel.kind = HostKernelKind::Attention;
  test.kernel.mask = static_cast<MaskKind>(pick(0, 2));
  test.kernel.isCausal = pick(0, 2) == 0;
  test.kernel.scale = 0.7;
  test.kernel.buffers = test.kernel.mask == MaskKind::None ? 4 : 5;
  test.batch = pick(1, 2);
  test.heads = pick(1, 4);
  test.queries = queries;
  test.keys = keys;
  test.keyChannels = pick(0, 12) == 0 ? 0 : pick(1, 40);
  test.valueChannels = pick(1, 40);
  test.q = layOut(flip(), test.heads, queries, test.keyChannels);
  test.k = layOut(flip(), test.heads, keys, test.keyChannels);
  test.v = layOut(flip(), test.heads, keys, test.valueChannels);
  test.o = layOut(flip(), test.heads, queries, test.valueChannels);
  if (pick(0, 3) == 0)
    test.k[1] = test.v[1] = 0;
  if (pick(0, 3) == 0)
    test.o = {test.o[0], test.heads == 1 ? 0 : queries * test.valueChannels, 1, queries};
  test.mask = {0, flip() ? queries * keys : 0, keys, 1};
  test.qs = numbers(test.batch * test.heads * queries * test.keyChannels);
  test.ks = numbers(test.batch * test.heads * keys * test.keyChannels);
  test.vs = numbers(test.batch * test.heads * keys * test.valueChannels);
  test.added = numbers(test.heads * queries * keys);
  for (float &value : test.added)
    if (pick(0, 5) == 0)
      value = -INFINITY;
  for (int64_t i = 0; i < test.heads * queries * keys; ++i)
    test.selected.push_back(flip());
  if (keys > 0 && queries > 0) // the first query sees no key
    std::memset(test.selected.data(), 0, static_cast<size_t>(keys));
  test.result = numbers(test.batch * test.heads * queries * test.valueChannels);
  return test;
}

TEST_P(AttentionTest, RandomCasesAreWhatAPlainLoopGives) {
  for (int i = 0; i < 120; ++i) {
    Case test = make(pick(0, i % 5 == 0 ? 200 : 20), pick(0, i % 4 == 0 ? 150 : 20));
    std::vector<double> wanted = expect(test);
    Status status = test.run(*load(test.kernel));
    ASSERT_TRUE(status.isOk()) << status.message();
    ASSERT_TRUE(isClose(test.result, wanted, 2e-5)) << "case " << i;
  }
}

TEST_P(AttentionTest, NaNPropagatesToItsQueryAlone) {
  Case test = make(70, 30);
  test.kernel.mask = MaskKind::None;
  test.kernel.buffers = 4;
  test.kernel.isCausal = false;
  test.keyChannels = 8;
  test.heads = test.batch = 1;
  test.q = {0, 0, 8, 1};
  test.k = {0, 0, 8, 1};
  test.v = test.o = {0, 0, test.valueChannels, 1};
  test.qs = numbers(560);
  test.ks = numbers(240);
  test.qs[8 * 66] = NAN;
  test.qs[8 * 3] = INFINITY;
  std::vector<double> wanted = expect(test);
  ASSERT_TRUE(test.run(*load(test.kernel)).isOk());
  EXPECT_TRUE(isClose(test.result, wanted, 2e-5));
}

TEST_P(AttentionTest, BitsDontDependOnThreads) {
  ThreadPool &pool = ThreadPool::get();
  int64_t before = pool.threads();
  Case test = make(150, 140);
  std::vector<float> first;
  for (int64_t threads : {1, 2, 3, 4, 8}) {
    ASSERT_TRUE(pool.setThreads(threads).isOk());
    ASSERT_TRUE(test.run(*load(test.kernel)).isOk());
    if (first.empty())
      first = test.result;
    EXPECT_TRUE(first == test.result) << "on " << threads << " threads";
  }
  ASSERT_TRUE(pool.setThreads(before).isOk());
}

TEST_P(AttentionTest, WrongSizesAreErrors) {
  Case test = make(5, 5);
  auto kernels = load(test.kernel);
  test.keys = -2;
  EXPECT_EQ(test.run(*kernels).message(),
            "kernel 'attention': expected sizes and strides of attention of at least 0, but number 3 is -2");
  test.keys = test.queries = int64_t(1) << 40;
  EXPECT_EQ(test.run(*kernels).message(),
            "kernel 'attention': expected the sizes of attention to have a product below 2^63");
}
