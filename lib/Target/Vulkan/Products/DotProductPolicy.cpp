// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the tile of a product with few rows. DotProductEmitter.cpp emits it. Products with more rows have
// SubgroupProductPolicy.cpp and CooperativeMatrixPolicy.cpp.

#include "DotProductPolicy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace inlay;

/// Maximum number of rows. With more, loading the operand that has the rows takes as long as loading the other one.
static constexpr int64_t kMaxRows = 8;

DotProductProfile DotProductProfile::from(const SubgroupProductProfile &profile, int64_t maxInvocations,
                                          bool isPacked) {
  bool adds = profile.addsLanes && (isPacked || profile.addsLanesFast);
  return {adds ? profile.lanes : 0, maxInvocations, int64_t(profile.enough)};
}

bool inlay::shouldUseDotProducts(int64_t rows, int64_t terms, const DotProductProfile &profile) {
  return profile.lanes >= 2 && rows <= std::min(kMaxRows, profile.lanes) && terms >= 2 * profile.lanes;
}

/// Returns the only reduction with more than one step, or -1 if there is none or more than one.
static int findOnlyReduction(const LoopNestShape &shape) {
  int inner = -1;
  for (size_t loop = 0; loop < shape.loops.size(); ++loop) {
    if (!shape.loops[loop].reduction || shape.loops[loop].isSingle())
      continue;
    if (inner >= 0)
      return -1;
    inner = int(loop);
  }
  return inner;
}

/// Returns the loops of a tile that streams the input `streamed`, or nullopt if it must not do so.
static std::optional<DotProductTile> findLoops(const LoopNestShape &shape, unsigned streamed,
                                               const DotProductProfile &profile) {
  DotProductTile tile;
  tile.streamed = streamed;
  tile.innerLoop = findOnlyReduction(shape);
  const std::vector<int64_t> &mine = shape.inputStrides[streamed], &others = shape.inputStrides[1 - streamed];
  if (tile.innerLoop < 0 || mine[tile.innerLoop] != 1 || others[tile.innerLoop] == 0)
    return std::nullopt;
  for (size_t i = 0; i < shape.loops.size(); ++i) {
    const LoopNestShape::Loop &loop = shape.loops[i];
    if (loop.reduction || loop.isSingle())
      continue;
    if (mine[i] != 0 && others[i] == 0 && (tile.columnLoop < 0 || loop.size > shape.loops[tile.columnLoop].size))
      tile.columnLoop = int(i);
    if (mine[i] != 0 || others[i] == 0)
      continue;
    if (tile.rowLoop >= 0 || loop.isOpen) // The number of rows must be known to be small.
      return std::nullopt;
    tile.rowLoop = int(i);
  }
  tile.rows = tile.rowLoop < 0 ? 1 : shape.loops[tile.rowLoop].size;
  if (tile.columnLoop < 0 || !shouldUseDotProducts(tile.rows, shape.loops[tile.innerLoop].size, profile))
    return std::nullopt;
  return tile;
}

/// Returns the loops of the tile that streams the input with more columns.
static std::optional<DotProductTile> findLoops(const LoopNestShape &shape, const DotProductProfile &profile) {
  if (shape.inputStrides.size() != 2)
    return std::nullopt;
  std::optional<DotProductTile> first = findLoops(shape, 0, profile), second = findLoops(shape, 1, profile);
  if (!first || !second)
    return first ? first : second;
  return shape.loops[first->columnLoop].size > shape.loops[second->columnLoop].size ? first : second;
}

bool inlay::isDotProduct(const LoopNestShape &shape, const DotProductProfile &profile) {
  return findLoops(shape, profile).has_value();
}

/// Returns the number of workgroups of such tiles.
static double countWorkgroups(const LoopNestShape &shape, const DotProductTile &tile) {
  double workgroups = 1;
  for (size_t loop = 0; loop < shape.loops.size(); ++loop)
    if (!shape.loops[loop].reduction)
      workgroups *= double(llvm::divideCeilSigned(shape.loops[loop].size, tile.factor(int(loop))));
  return workgroups;
}

std::optional<DotProductTile> inlay::chooseDotProductTile(const LoopNestShape &shape,
                                                          const std::vector<int64_t> &widths,
                                                          const DotProductProfile &profile) {
  constexpr int64_t kMaxColumns = 4, kMaxDepth = 4, kMaxSubgroups = 8, kLoadsInFlight = 12;
  std::optional<DotProductTile> tile = findLoops(shape, profile);
  if (!tile)
    return std::nullopt;
  auto enough = double(profile.enough);
  tile->columns = kMaxColumns;
  while (tile->columns > 1 && (tile->results() > profile.lanes || countWorkgroups(shape, *tile) < enough))
    tile->columns /= 2;
  tile->width = widths[tile->streamed];
  int64_t terms = shape.loops[tile->innerLoop].size;
  auto countSteps = [&] { return terms / (tile->width * profile.lanes * tile->subgroups); };
  while (2 * tile->subgroups <= std::min(kMaxSubgroups, profile.maxInvocations / profile.lanes) &&
         countWorkgroups(shape, *tile) * double(tile->subgroups) < enough && countSteps() >= 2)
    tile->subgroups *= 2;
  while (2 * tile->depth <= std::min(kMaxDepth, countSteps()) &&
         2 * tile->depth * (tile->rows + tile->columns) <= kLoadsInFlight)
    tile->depth *= 2;
  return tile;
}
