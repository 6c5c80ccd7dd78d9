// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses which loops of a contraction become a matrix product. ContractionPlan.cpp cuts it into slices.

#include "ContractionShape.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt::host {

static Status tooLarge(const HostKernel &kernel, const char *what) {
  return {StatusCode::InvalidArgument, fmt::format("kernel '{}': expected {} below 2^63", kernel.name, what)};
}

static StatusOr<std::vector<ContractionLoop>> readLoops(const HostKernel &kernel, const int64_t *sizes) {
  std::vector<ContractionLoop> loops(kernel.loops);
  for (ContractionLoop &loop : loops) {
    loop.size = *sizes++;
    loop.strides.assign(sizes, sizes + kernel.buffers);
    sizes += kernel.buffers;
    int64_t minStride = *std::min_element(loop.strides.begin(), loop.strides.end());
    if (loop.size < 0 || minStride < 0)
      return Status(StatusCode::InvalidArgument,
                    fmt::format("kernel '{}': expected sizes and strides of at least 0, but loop {} has size {} and "
                                "stride {}",
                                kernel.name, &loop - loops.data(), loop.size, minStride));
  }
  return loops;
}

/// Computes the extent of each buffer, for loops that aren't empty.
static Status measureExtents(const HostKernel &kernel, const std::vector<ContractionLoop> &loops,
                             std::vector<int64_t> &extents) {
  int64_t work = 1;
  extents.assign(kernel.buffers, 1);
  for (const ContractionLoop &loop : loops) {
    if (__builtin_mul_overflow(work, loop.size, &work))
      return tooLarge(kernel, "a product of sizes");
    for (uint32_t buffer = 0; buffer < kernel.buffers; ++buffer) {
      int64_t reach = 0;
      if (__builtin_mul_overflow(loop.size - 1, loop.strides[buffer], &reach) ||
          __builtin_add_overflow(extents[buffer], reach, &extents[buffer]) ||
          extents[buffer] > INT64_MAX / static_cast<int64_t>(sizeof(float)))
        return tooLarge(kernel, "the bytes of a buffer");
    }
  }
  return Status::ok();
}

/// Returns true if `outer` continues where `inner` ends, in every buffer.
static bool follows(const ContractionLoop &outer, const ContractionLoop &inner) {
  for (size_t i = 0; i < outer.strides.size(); ++i) {
    int64_t length = 0;
    if (__builtin_mul_overflow(inner.strides[i], inner.size, &length) || length != outer.strides[i])
      return false;
  }
  return true;
}

static bool mergeTwo(std::vector<ContractionLoop> &loops) {
  for (size_t outer = 0; outer < loops.size(); ++outer)
    for (size_t inner = 0; inner < loops.size(); ++inner) {
      if (outer == inner || !follows(loops[outer], loops[inner]))
        continue;
      loops[inner].size *= loops[outer].size;
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(outer));
      return true;
    }
  return false;
}

namespace {
/// Indices of loops, grouped by the operands that have them; -1 stands for a missing loop.
struct LoopClasses {
  std::vector<int> m, n, k;

  LoopClasses(const std::vector<ContractionLoop> &loops, uint32_t c) {
    for (size_t i = 0; i < loops.size(); ++i) {
      const std::vector<int64_t> &strides = loops[i].strides;
      bool inA = strides[0] != 0, inB = strides[1] != 0;
      if (strides[c] == 0)
        k.push_back(static_cast<int>(i));
      else if (inA && !inB)
        m.push_back(static_cast<int>(i));
      else if (inB && !inA)
        n.push_back(static_cast<int>(i));
    }
    for (std::vector<int> *loopClass : {&m, &n, &k})
      if (loopClass->empty())
        loopClass->push_back(-1);
  }
};

/// The loops that become a matrix product, with a score.
struct Choice {
  int m = -1, n = -1, k = -1;
  bool isSwapped = false;
  double score = -1;
};
} // namespace

static int64_t strideOf(const std::vector<ContractionLoop> &loops, int number, uint32_t buffer) {
  return number < 0 ? 1 : loops[static_cast<size_t>(number)].strides[buffer];
}

static double sizeOf(const std::vector<ContractionLoop> &loops, int number) {
  return number < 0 ? 1 : static_cast<double>(loops[static_cast<size_t>(number)].size);
}

/// Scores a choice of loops. An operand without adjacent elements along one of its two loops costs about as much as a
/// factor of 4 in size.
static Choice rate(const std::vector<ContractionLoop> &loops, uint32_t c, int m, int n, int k) {
  Choice choice{m, n, k, false, sizeOf(loops, m) * sizeOf(loops, n) * sizeOf(loops, k)};
  bool hasUnitA = strideOf(loops, m, 0) == 1 || strideOf(loops, k, 0) == 1;
  bool hasUnitB = strideOf(loops, n, 1) == 1 || strideOf(loops, k, 1) == 1;
  bool hasUnitColumn = n >= 0 && strideOf(loops, n, c) == 1;
  bool hasUnitRow = m >= 0 && strideOf(loops, m, c) == 1;
  choice.isSwapped = !hasUnitColumn && (hasUnitRow || n < 0);
  for (bool isGood : {hasUnitA, hasUnitB, hasUnitColumn || hasUnitRow})
    choice.score *= isGood ? 4 : 1;
  return choice;
}

static Choice choose(const std::vector<ContractionLoop> &loops, uint32_t c) {
  LoopClasses classes(loops, c);
  Choice best;
  for (int m : classes.m)
    for (int n : classes.n)
      for (int k : classes.k)
        if (Choice choice = rate(loops, c, m, n, k); choice.score > best.score)
          best = choice;
  return best;
}

StatusOr<ContractionShape> analyzeContraction(const HostKernel &kernel, const int64_t *sizes) {
  StatusOr<std::vector<ContractionLoop>> read = readLoops(kernel, sizes);
  if (!read.isOk())
    return read.status();
  std::vector<ContractionLoop> &loops = *read;
  uint32_t c = kernel.buffers - 1;
  ContractionShape shape;
  for (const ContractionLoop &loop : loops)
    if (loop.size == 0)
      (loop.strides[c] == 0 ? shape.isEmptySum : shape.isEmpty) = true;
  loops.erase(std::remove_if(loops.begin(), loops.end(),
                             [&](const ContractionLoop &loop) {
                               return loop.size == 1 || (loop.size == 0 && loop.strides[c] == 0);
                             }),
              loops.end());
  if (shape.isEmpty)
    return shape;
  if (shape.isEmptySum) // the remaining summation loops sum nothing
    loops.erase(
        std::remove_if(loops.begin(), loops.end(), [&](const ContractionLoop &loop) { return loop.strides[c] == 0; }),
        loops.end());
  if (Status status = measureExtents(kernel, loops, shape.extents); !status.isOk())
    return status;
  while (mergeTwo(loops)) {
  }
  Choice choice = choose(loops, c);
  ContractionLoop none{1, std::vector<int64_t>(kernel.buffers, 1)};
  auto take = [&](int number) { return number < 0 ? none : loops[static_cast<size_t>(number)]; };
  shape.m = take(choice.isSwapped ? choice.n : choice.m);
  shape.n = take(choice.isSwapped ? choice.m : choice.n);
  shape.k = take(choice.k);
  shape.a = choice.isSwapped ? 1 : 0;
  shape.b = choice.isSwapped ? 0 : 1;
  for (int i = 0; i < static_cast<int>(loops.size()); ++i)
    if (i != choice.m && i != choice.n && i != choice.k)
      (loops[static_cast<size_t>(i)].strides[c] == 0 ? shape.sums : shape.outer).push_back(take(i));
  return shape;
}

} // namespace inlay::rt::host
