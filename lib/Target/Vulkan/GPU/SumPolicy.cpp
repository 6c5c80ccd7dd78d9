// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the number of parts of a reduction that two kernels compute: one sums the parts, the other joins them.
// SplitSums.cpp applies it. RowKernel.cpp (`emitShared`) joins the shares inside a workgroup.

#include "SumPolicy.h"
#include "Target/Vulkan/Products/DotProductPolicy.h"

#include <algorithm>
#include <cmath>

using namespace inlay;

/// Maximum number of parts of a product. With more, joining them would take as long as computing them.
static constexpr int64_t kMaxParts = 256;

/// Returns the divisors of `number` from 2 to `maxDivisor`, sorted.
static std::vector<int64_t> listDivisors(int64_t number, int64_t maxDivisor) {
  std::vector<int64_t> divisors;
  for (int64_t low = 1; low <= std::min(maxDivisor, number / low); ++low)
    if (number % low == 0)
      for (int64_t divisor : {low, number / low})
        if (divisor > 1 && divisor <= maxDivisor)
          divisors.push_back(divisor);
  std::sort(divisors.begin(), divisors.end());
  divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  return divisors;
}

static double multiplySizes(const LoopNestShape &shape, bool reductions) {
  double product = 1;
  for (const LoopNestShape::Loop &loop : shape.loops)
    product *= loop.reduction == reductions ? double(loop.size) : 1;
  return product;
}

/// Returns the shape of the op that computes `parts` of `loop` in parallel. It has one more parallel loop.
static LoopNestShape split(LoopNestShape shape, size_t loop, int64_t parts) {
  int64_t size = shape.loops[loop].size / parts;
  shape.loops[loop].size = size;
  shape.loops.push_back({parts, /*reduction=*/false});
  for (std::vector<int64_t> &strides : shape.inputStrides)
    strides.push_back(strides[loop] * size);
  shape.outputStrides.push_back(int64_t(multiplySizes(shape, /*reductions=*/false)) / parts);
  return shape;
}

/// Returns the cost of joining the parts. Each part is loaded and added once.
static double getJoinCost(const LoopNestShape &shape, int64_t parts, const SubgroupProductProfile &profile) {
  double joined = multiplySizes(shape, /*reductions=*/false) * double(parts) / double(profile.lanes);
  return profile.launch + joined * (profile.load + profile.step);
}

/// Returns the number of parts of a product with the lowest cost.
static int64_t choosePartsOfProduct(const LoopNestShape &shape, size_t loop, int64_t longest,
                                    const SubgroupProductProfile &profile, const SubgroupProductTile &whole) {
  constexpr double kWorthIt = 0.8; // The model is not accurate enough for smaller gains.
  double steps = multiplySizes(shape, /*reductions=*/true);
  bool isTooLong = steps > double(longest);
  double bestCost = getSubgroupProductCost(shape, whole, profile) * kWorthIt;
  if (bestCost < profile.launch && !isTooLong)
    return 1;
  int64_t best = 1;
  for (int64_t parts : listDivisors(shape.loops[loop].size, kMaxParts)) {
    if (steps / double(parts) > double(longest))
      continue;
    LoopNestShape inParts = split(shape, loop, parts);
    std::optional<SubgroupProductTile> tile = chooseSubgroupProductTile(inParts, profile);
    if (!tile)
      continue;
    double cost = getSubgroupProductCost(inParts, *tile, profile) + getJoinCost(shape, parts, profile);
    if (cost >= bestCost && !(isTooLong && best == 1))
      continue;
    best = parts;
    bestCost = cost;
  }
  return best;
}

/// Returns true if there are fewer results than invocations that could work, and the sums are long enough to share.
static bool hasTooFewResults(const LoopNestShape &shape, double steps, const SubgroupProductProfile &profile) {
  constexpr double kLong = 8192;
  double invocations = profile.enough * static_cast<double>(std::max<int64_t>(profile.lanes, 1));
  return steps >= kLong && multiplySizes(shape, /*reductions=*/false) < invocations;
}

int64_t inlay::chooseParts(const LoopNestShape &shape, size_t loop, int64_t longest,
                           const SubgroupProductProfile &profile, bool isAlone, bool isPacked) {
  if (shape.loops[loop].isOpen || shape.loops[loop].size < 2)
    return 1;
  double steps = multiplySizes(shape, /*reductions=*/true);
  if (steps <= double(longest) && isDotProduct(shape, DotProductProfile::from(profile, profile.lanes, isPacked)))
    return 1; // Subgroups share the sum already.
  std::optional<SubgroupProductTile> whole = chooseSubgroupProductTile(shape, profile);
  if (whole)
    return choosePartsOfProduct(shape, loop, longest, profile, *whole);
  if (steps <= double(longest) && !(isAlone && hasTooFewResults(shape, steps, profile)))
    return 1;
  // An invocation of either kernel should run the same number of steps.
  int64_t best = 1;
  auto distance = [&](int64_t parts) { return std::abs(std::log(double(parts) * double(parts) / steps)); };
  for (int64_t parts : listDivisors(shape.loops[loop].size, longest))
    if (steps / double(parts) <= double(longest) && (best == 1 || distance(parts) < distance(best)))
      best = parts;
  return best;
}
