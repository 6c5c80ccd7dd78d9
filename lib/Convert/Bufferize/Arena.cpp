// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the search for an offset of each buffer: the smallest gap that fits wins. The callers, such as
// HoistAllocations.cpp, find the lifetimes. The runtime shares the temporaries of a whole program in
// Runtime/Core/Execute/PlanInstance.cpp.

#include "inlay/Convert/Bufferize/Arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace inlay;

namespace {
struct Placed {
  int64_t offset, end;
  Lifetime lifetime;
};
} // namespace

/// Returns the offset of the smallest gap of at least `bytes` bytes between the buffers of `placed`, sorted by offset,
/// that are live at the same time as `wanted`. Returns the end of these buffers if there is no such gap.
static int64_t findGap(const std::vector<Placed> &placed, const Lifetime &wanted, int64_t bytes) {
  int64_t best = -1, narrowest = std::numeric_limits<int64_t>::max(), end = 0;
  for (const Placed &other : placed) {
    if (other.lifetime.last < wanted.first || wanted.last < other.lifetime.first)
      continue;
    int64_t gap = other.offset - end;
    if (gap >= bytes && gap < narrowest) {
      narrowest = gap;
      best = end;
    }
    end = std::max(end, other.end);
  }
  return best < 0 ? end : best;
}

ArenaPlan inlay::planArena(const std::vector<Lifetime> &lifetimes, int64_t alignment) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<Placed> placed; // Sorted by offset.
  for (size_t number : order) {
    const Lifetime &lifetime = lifetimes[number];
    int64_t bytes = (lifetime.bytes + alignment - 1) / alignment * alignment;
    int64_t offset = findGap(placed, lifetime, bytes);
    plan.offsets[number] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    Placed here{offset, offset + bytes, lifetime};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), here,
                                   [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
                  here);
  }
  return plan;
}
