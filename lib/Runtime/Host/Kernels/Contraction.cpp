// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs contractions as matrix products of slices, in parallel.

#include "ContractionPlan.h"
#include "LibraryKernel.h"
#include "Runtime/Host/Portable/PostOps.h"
#include "Runtime/Host/Support/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace inlay::rt::host {

static constexpr uint32_t kMaxBuffers = 32;

namespace {
class ContractionKernel : public LibraryKernel {
public:
  ContractionKernel(const HostKernel &kernel, SequentialLibrary &library)
      : kernel(kernel), library(library), postOps(withBias(kernel)) {}

  Status call(void *const *buffers, const int64_t *sizes) override;
  void forgetConstants() override { constants.forget(); }

private:
  HostKernel kernel;
  SequentialLibrary &library;
  std::vector<PostOp> postOps;
  PlanCache<ContractionPlan> plans;
  ConstantCache constants;
};

/// The data of one call that its tasks share.
struct ContractionRun {
  const ContractionPlan &plan;
  const std::vector<PostOp> &postOps;
  bool accumulates;
  const Packed *packed;
  std::array<float *, kMaxBuffers> buffers;
  uint32_t count; ///< Number of buffers; the last one is C.

  Status runTask(int64_t task) const;

private:
  struct Place {
    int64_t outer, m, n; ///< Indices of the slice.
    int64_t rows, columns;
    float *c;
    int64_t cRow, cColumn;
  };

  Status multiply(const Place &place, float *target) const;
  void finish(const Place &place, float *target, int64_t targetRow) const;
};
} // namespace

Status ContractionRun::multiply(const Place &place, float *target) const {
  const ContractionShape &shape = plan.shape;
  int64_t a = offsetOf(shape.outer, place.outer, shape.a) + plan.m.begin(place.m) * shape.m.strides[shape.a];
  int64_t b = offsetOf(shape.outer, place.outer, shape.b) + plan.n.begin(place.n) * shape.n.strides[shape.b];
  bool isTailM = plan.m.isTail(place.m), isTailN = plan.n.isTail(place.n);
  for (int64_t sum = 0; sum < plan.sumCount; ++sum) {
    const Gemm &gemm = *plan.gemms[sum > 0][isTailM][isTailN];
    const float *left = buffers[shape.a] + a + offsetOf(shape.sums, sum, shape.a);
    int64_t right = b + offsetOf(shape.sums, sum, shape.b);
    const void *matrix = packed ? (*packed)[plan.findPart(right, isTailM, isTailN)].get()
                                : static_cast<const void *>(buffers[shape.b] + right);
    INLAY_RETURN_IF_ERROR(gemm.run(left, matrix, target));
  }
  return Status::ok();
}

void ContractionRun::finish(const Place &place, float *target, int64_t targetRow) const {
  const ContractionShape &shape = plan.shape;
  std::array<PostOperand, kMaxBuffers> operands;
  for (uint32_t buffer = 2; buffer + 1 < count; ++buffer) {
    int64_t row = shape.m.strides[buffer], column = shape.n.strides[buffer];
    int64_t offset =
        offsetOf(shape.outer, place.outer, buffer) + plan.m.begin(place.m) * row + plan.n.begin(place.n) * column;
    operands[buffer - 2] = {buffers[buffer] + offset, row, column};
  }
  applyPostOps(postOps, operands.data(), {target, place.rows, place.columns, targetRow});
}

Status ContractionRun::runTask(int64_t task) const {
  const ContractionShape &shape = plan.shape;
  uint32_t c = count - 1;
  Place place{};
  place.n = task % plan.n.count;
  place.m = task / plan.n.count % plan.m.count;
  place.outer = task / plan.n.count / plan.m.count;
  place.rows = plan.m.length(place.m);
  place.columns = plan.n.length(place.n);
  place.cRow = shape.m.strides[c];
  place.cColumn = shape.n.strides[c];
  place.c = buffers[c] + offsetOf(shape.outer, place.outer, c) + plan.m.begin(place.m) * place.cRow +
            plan.n.begin(place.n) * place.cColumn;
  float *target = place.c;
  int64_t targetRow = place.cRow;
  static Scratch scratch;
  if (plan.usesScratch) {
    targetRow = plan.n.slice;
    target = static_cast<float *>(scratch.reserve(static_cast<size_t>(place.rows * targetRow) * sizeof(float)));
    if (!target)
      return {StatusCode::ResourceExhausted, "no memory for a slice of the result"};
    for (int64_t row = 0; row < place.rows && accumulates; ++row)
      for (int64_t column = 0; column < place.columns; ++column)
        target[row * targetRow + column] = place.c[row * place.cRow + column * place.cColumn];
  }
  if (!shape.isEmptySum) {
    INLAY_RETURN_IF_ERROR(multiply(place, target));
  } else if (!accumulates) {
    for (int64_t row = 0; row < place.rows; ++row)
      std::fill_n(target + row * targetRow, place.columns, 0.0f);
  }
  finish(place, target, targetRow);
  for (int64_t row = 0; row < place.rows && plan.usesScratch; ++row)
    for (int64_t column = 0; column < place.columns; ++column)
      place.c[row * place.cRow + column * place.cColumn] = target[row * targetRow + column];
  return Status::ok();
}

/// Returns true if two buffers have the same strides in every loop.
static bool hasSameStrides(const ContractionShape &shape, uint32_t x, uint32_t y) {
  auto isSame = [&](const ContractionLoop &loop) { return loop.size == 1 || loop.strides[x] == loop.strides[y]; };
  return isSame(shape.m) && isSame(shape.n) && std::all_of(shape.outer.begin(), shape.outer.end(), isSame);
}

/// Copies operands that overlap C other than element by element, because C is written before they are read.
static Status copyOverlapping(ContractionRun &run, std::vector<Memory> &copies) {
  const ContractionShape &shape = run.plan.shape;
  uint32_t c = run.count - 1;
  for (uint32_t buffer = 2; buffer < c; ++buffer) {
    const float *begin = run.buffers[buffer], *cBegin = run.buffers[c];
    const float *end = begin + shape.extents[buffer], *cEnd = cBegin + shape.extents[c];
    if (begin >= cEnd || cBegin >= end || (begin == cBegin && hasSameStrides(shape, buffer, c)))
      continue;
    size_t bytes = static_cast<size_t>(shape.extents[buffer]) * sizeof(float);
    Memory copy = allocate(bytes);
    if (!copy)
      return {StatusCode::ResourceExhausted, fmt::format("no memory for {} bytes of an operand", bytes)};
    std::memcpy(copy.get(), begin, bytes);
    run.buffers[buffer] = static_cast<float *>(copy.get());
    copies.push_back(std::move(copy));
  }
  return Status::ok();
}

Status ContractionKernel::call(void *const *buffers, const int64_t *sizes) {
  uint32_t c = kernel.buffers - 1;
  bool isInPlace = false;
  for (uint32_t buffer = 2; buffer < c; ++buffer)
    isInPlace = isInPlace || buffers[buffer] == buffers[c];
  int64_t threads = threadsToPlanFor();
  std::vector<int64_t> key(sizes, sizes + static_cast<size_t>(kernel.loops) * (kernel.buffers + 1));
  key.push_back(threads);
  key.push_back(isInPlace);
  auto plan = plans.get(std::move(key), [&] { return planContraction(kernel, sizes, isInPlace, threads, library); });
  if (!plan.isOk())
    return plan.status();
  if ((*plan)->shape.isEmpty)
    return Status::ok();
  ContractionRun run{**plan, postOps, kernel.accumulates, nullptr, {}, kernel.buffers};
  for (uint32_t buffer = 0; buffer <= c; ++buffer)
    run.buffers[buffer] = static_cast<float *>(buffers[buffer]);
  std::shared_ptr<const Packed> packed;
  if ((*plan)->packsB) {
    const float *b = run.buffers[(*plan)->shape.b];
    auto got = constants.get(b, (*plan)->packedLayout, [&](Packed &made) { return (*plan)->pack(b, made); });
    if (!got.isOk())
      return got.status();
    packed = std::move(*got);
    run.packed = packed.get();
  }
  std::vector<Memory> copies;
  INLAY_RETURN_IF_ERROR(copyOverlapping(run, copies));
  return ThreadPool::get().run((*plan)->tasks(), (*plan)->chunk, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      INLAY_RETURN_IF_ERROR(run.runTask(task));
    return Status::ok();
  });
}

StatusOr<std::unique_ptr<LibraryKernel>> makeContraction(const HostKernel &kernel, SequentialLibrary &library) {
  size_t expected = 3 + countOperands(kernel);
  if (kernel.buffers != expected || kernel.buffers > kMaxBuffers)
    return Status(StatusCode::InvalidArgument, fmt::format("kernel '{}': expected a contraction of {} buffers, at most "
                                                           "{}, but got {}",
                                                           kernel.name, expected, kMaxBuffers, kernel.buffers));
  for (const PostOp &op : kernel.postOps)
    if (isPerChannel(op.kind))
      return Status(StatusCode::InvalidArgument,
                    fmt::format("kernel '{}': a contraction has no post-op '{}'", kernel.name, name(op.kind)));
  return std::unique_ptr<LibraryKernel>(std::make_unique<ContractionKernel>(kernel, library));
}

} // namespace inlay::rt::host
