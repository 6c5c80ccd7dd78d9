// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes softmax(scale * Q K^T + mask) V by blocks of query rows. The scores of a block are a matrix product that
// stays in cache; the scores of all queries never exist at the same time.

#include "LibraryKernel.h"
#include "Runtime/Host/Portable/Softmax.h"
#include "Runtime/Host/Support/Memory.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "TaskSizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace inlay::rt::host {

/// Queries per block, enough for fast products. It is fixed, so results do not depend on the number of threads.
static constexpr int64_t kBlockQueries = 64;
namespace {
/// Strides of batch, heads, queries or keys, and channels (keys for the mask).
using Strides = std::array<int64_t, 4>;

struct AttentionSizes {
  int64_t batch, heads, queries, keys, keyChannels, valueChannels;
  Strides q, k, v, mask{}, o;
};

/// The products of a block: scores = Q K^T, and results = softmax(scores) V.
struct BlockGemms {
  std::shared_ptr<Gemm> scores, results;
};

struct AttentionPlan {
  AttentionSizes sizes;
  int64_t blocks = 1;
  int64_t chunk = 1;
  bool isEmpty = false;
  bool usesScratch = false;      ///< True if O's channels aren't adjacent.
  std::vector<BlockGemms> gemms; ///< Per block. Without a causal mask all full blocks share one pair.
};

class AttentionKernel : public LibraryKernel {
public:
  AttentionKernel(const HostKernel &kernel, SequentialLibrary &library) : kernel(kernel), library(library) {}

  Status call(void *const *buffers, const int64_t *sizes) override;

private:
  StatusOr<std::shared_ptr<const AttentionPlan>> plan(const int64_t *sizes) const;
  StatusOr<AttentionSizes> readSizes(const int64_t *sizes) const;
  StatusOr<BlockGemms> makeGemms(const AttentionPlan &plan, int64_t queries, int64_t keys) const;
  Status runBlock(const AttentionPlan &plan, void *const *buffers, int64_t task) const;
  int64_t countKeys(const AttentionSizes &sizes, int64_t queryEnd) const {
    return kernel.isCausal ? std::min(queryEnd, sizes.keys) : sizes.keys;
  }

  HostKernel kernel;
  SequentialLibrary &library;
  PlanCache<AttentionPlan> plans;
};
} // namespace

static int64_t offsetOf(const Strides &strides, int64_t batch, int64_t head, int64_t row) {
  return batch * strides[0] + head * strides[1] + row * strides[2];
}

/// Returns true if a buffer of these sizes and strides has fewer than 2^63 bytes.
static bool isInRange(const Strides &strides, const std::array<int64_t, 4> &sizes) {
  int64_t extent = 1;
  for (size_t i = 0; i < 4; ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(sizes[i] - 1, 0), strides[i], &reach) ||
        __builtin_add_overflow(extent, reach, &extent))
      return false;
  }
  return extent <= INT64_MAX / static_cast<int64_t>(sizeof(float));
}

StatusOr<AttentionSizes> AttentionKernel::readSizes(const int64_t *sizes) const {
  AttentionSizes read{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], {}, {}, {}, {}, {}};
  size_t count = kernel.mask == MaskKind::None ? 22 : 26;
  for (size_t i = 0; i < count; ++i)
    if (sizes[i] < 0)
      return Status(StatusCode::InvalidArgument,
                    fmt::format("kernel '{}': expected sizes and strides of attention of at least 0, but number {} is "
                                "{}",
                                kernel.name, i, sizes[i]));
  const int64_t *next = sizes + 6;
  for (Strides *strides : {&read.q, &read.k, &read.v, &read.mask, &read.o}) {
    if (strides == &read.mask && kernel.mask == MaskKind::None)
      continue;
    std::copy_n(next, 4, strides->begin());
    next += 4;
  }
  int64_t work = 1;
  bool isTooLarge = false;
  for (int64_t size : {read.batch, read.heads, read.queries, read.keys, std::max(read.keyChannels, read.valueChannels)})
    isTooLarge = __builtin_mul_overflow(work, std::max<int64_t>(size, 1), &work) || isTooLarge;
  if (isTooLarge || !isInRange(read.q, {read.batch, read.heads, read.queries, read.keyChannels}) ||
      !isInRange(read.k, {read.batch, read.heads, read.keys, read.keyChannels}) ||
      !isInRange(read.v, {read.batch, read.heads, read.keys, read.valueChannels}) ||
      !isInRange(read.mask, {read.batch, read.heads, read.queries, read.keys}) ||
      !isInRange(read.o, {read.batch, read.heads, read.queries, read.valueChannels}))
    return Status(
        StatusCode::InvalidArgument,
        fmt::format("kernel '{}': expected the sizes of attention to have a product below 2^63", kernel.name));
  return read;
}

/// Creates the products of a block. Products of size zero are left out.
StatusOr<BlockGemms> AttentionKernel::makeGemms(const AttentionPlan &plan, int64_t queries, int64_t keys) const {
  const AttentionSizes &sizes = plan.sizes;
  BlockGemms made;
  if (keys == 0)
    return made;
  GemmShape scores{queries, keys, sizes.keyChannels, sizes.q[2], sizes.q[3], sizes.k[3], sizes.k[2], keys};
  GemmShape results{queries, sizes.valueChannels, keys, keys, 1, sizes.v[2], sizes.v[3], sizes.o[2]};
  if (plan.usesScratch)
    results.cRow = sizes.valueChannels;
  if (sizes.keyChannels > 0) {
    StatusOr<std::shared_ptr<Gemm>> gemm = makeGemm(library, scores);
    if (!gemm.isOk())
      return gemm.status();
    made.scores = std::move(*gemm);
  }
  StatusOr<std::shared_ptr<Gemm>> gemm = makeGemm(library, results);
  if (!gemm.isOk())
    return gemm.status();
  made.results = std::move(*gemm);
  return made;
}

StatusOr<std::shared_ptr<const AttentionPlan>> AttentionKernel::plan(const int64_t *numbers) const {
  StatusOr<AttentionSizes> sizes = readSizes(numbers);
  if (!sizes.isOk())
    return sizes.status();
  auto made = std::make_shared<AttentionPlan>();
  made->sizes = *sizes;
  made->isEmpty = sizes->batch == 0 || sizes->heads == 0 || sizes->queries == 0 || sizes->valueChannels == 0;
  if (made->isEmpty)
    return std::shared_ptr<const AttentionPlan>(std::move(made));
  made->usesScratch = sizes->valueChannels > 1 && sizes->o[3] != 1;
  made->blocks = (sizes->queries - 1) / kBlockQueries + 1;
  for (int64_t block = 0; block < made->blocks; ++block) {
    int64_t end = std::min((block + 1) * kBlockQueries, sizes->queries);
    bool isLikeFirst = !kernel.isCausal && block > 0 && end == (block + 1) * kBlockQueries;
    if (isLikeFirst) {
      made->gemms.push_back(made->gemms.front());
      continue;
    }
    StatusOr<BlockGemms> gemms = makeGemms(*made, end - block * kBlockQueries, countKeys(*sizes, end));
    if (!gemms.isOk())
      return gemms.status();
    made->gemms.push_back(std::move(*gemms));
  }
  double perTask = static_cast<double>(std::min(sizes->queries, kBlockQueries)) * static_cast<double>(sizes->keys) *
                   static_cast<double>(sizes->keyChannels + sizes->valueChannels);
  made->chunk = std::max<int64_t>(1, static_cast<int64_t>(kMinWork / std::max(perTask, 1.0)));
  return std::shared_ptr<const AttentionPlan>(std::move(made));
}

Status AttentionKernel::runBlock(const AttentionPlan &plan, void *const *buffers, int64_t task) const {
  static Scratch scratch;
  const AttentionSizes &sizes = plan.sizes;
  int64_t block = task % plan.blocks, head = task / plan.blocks % sizes.heads;
  int64_t batch = task / plan.blocks / sizes.heads, first = block * kBlockQueries;
  int64_t queries = std::min(kBlockQueries, sizes.queries - first), keys = countKeys(sizes, first + queries);
  const BlockGemms &gemms = plan.gemms[static_cast<size_t>(block)];
  auto at = [&](uint32_t buffer, const Strides &strides, int64_t row) {
    return static_cast<float *>(buffers[buffer]) + offsetOf(strides, batch, head, row);
  };
  int64_t resultElements = plan.usesScratch ? queries * sizes.valueChannels : 0;
  auto *scores =
      static_cast<float *>(scratch.reserve(static_cast<size_t>(queries * keys + resultElements) * sizeof(float)));
  if (!scores)
    return {StatusCode::ResourceExhausted, fmt::format("no memory for {} scores", queries * keys)};
  float *o = at(kernel.buffers - 1, sizes.o, first);
  float *target = plan.usesScratch ? scores + queries * keys : o;
  int64_t targetRow = plan.usesScratch ? sizes.valueChannels : sizes.o[2];
  if (gemms.scores)
    INLAY_RETURN_IF_ERROR(gemms.scores->run(at(0, sizes.q, first), at(1, sizes.k, 0), scores));
  else
    std::fill_n(scores, queries * keys, 0.0f);
  size_t maskBytes = kernel.mask == MaskKind::Added ? sizeof(float) : 1;
  for (int64_t row = 0; row < queries; ++row) {
    const void *mask = nullptr;
    if (kernel.mask != MaskKind::None)
      mask = static_cast<const char *>(buffers[3]) +
             static_cast<size_t>(offsetOf(sizes.mask, batch, head, first + row)) * maskBytes;
    int64_t visible = kernel.isCausal ? std::min(first + row + 1, keys) : keys;
    applySoftmax(
        {scores + row * keys, keys, visible, static_cast<float>(kernel.scale), kernel.mask, mask, sizes.mask[3]});
  }
  if (gemms.results)
    INLAY_RETURN_IF_ERROR(gemms.results->run(scores, at(2, sizes.v, 0), target));
  for (int64_t row = 0; row < queries && !gemms.results; ++row)
    std::fill_n(target + row * targetRow, sizes.valueChannels, 0.0f);
  for (int64_t row = 0; row < queries && plan.usesScratch; ++row)
    for (int64_t channel = 0; channel < sizes.valueChannels; ++channel)
      o[row * sizes.o[2] + channel * sizes.o[3]] = target[row * targetRow + channel];
  return Status::ok();
}

Status AttentionKernel::call(void *const *buffers, const int64_t *sizes) {
  std::vector<int64_t> key(sizes, sizes + (kernel.mask == MaskKind::None ? 22 : 26));
  auto found = plans.get(std::move(key), [&] { return plan(sizes); });
  if (!found.isOk())
    return found.status();
  const AttentionPlan &plan = **found;
  if (plan.isEmpty)
    return Status::ok();
  int64_t tasks = plan.sizes.batch * plan.sizes.heads * plan.blocks;
  return ThreadPool::get().run(tasks, plan.chunk, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(runBlock(plan, buffers, task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeAttention(const HostKernel &kernel, SequentialLibrary &library) {
  uint32_t expected = kernel.mask == MaskKind::None ? 4 : 5;
  if (kernel.buffers != expected)
    return Status(StatusCode::InvalidArgument, fmt::format("kernel '{}': expected attention of {} buffers, but got {}",
                                                           kernel.name, expected, kernel.buffers));
  return std::unique_ptr<LibraryKernel>(std::make_unique<AttentionKernel>(kernel, library));
}

} // namespace inlay::rt::host
