// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the tile of an f16 product on matrix units by a cost per step. CooperativeMatrixEmitter.cpp emits it.
// Products by subgroups have SubgroupProductPolicy.cpp.

#include "CooperativeMatrixPolicy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace inlay;

/// Size of an element and of a sum in bytes.
static constexpr int64_t kElementBytes = 2, kSumBytes = 4;

int64_t inlay::countCooperativeMatrixMemory(const CooperativeMatrixTile &tile) {
  return countBlockMemory(tile.block(), kElementBytes) +
         kSumBytes * tile.subgroups() * tile.unit.rows * tile.unit.columns;
}

//===-- Choosing ------------------------------------------------------------------------------------------------===//

/// Returns the fraction of the work of tiles of these sizes that the product needs.
static double getUse(const ProductSizes &sizes, double blockRows, double blockColumns, double depth) {
  auto whole = [](double size, double block) {
    return block * double(llvm::divideCeilSigned(int64_t(size), int64_t(block)));
  };
  return sizes.rows * sizes.columns * sizes.inner /
         (whole(sizes.rows, blockRows) * whole(sizes.columns, blockColumns) * whole(sizes.inner, depth));
}

/// Returns the cost of all tiles. If there are fewer subgroups than keep the device busy, the cost is that of as many.
static double getCost(const ProductSizes &sizes, const CooperativeMatrixTile &tile,
                      const CooperativeMatrixProfile &profile) {
  auto blockRows = double(tile.blockRows()), blockColumns = double(tile.blockColumns());
  auto subgroups = double(tile.subgroups()), depth = double(tile.depth);
  double perTerm = profile.multiply * blockRows * blockColumns + profile.load * (blockRows + blockColumns) +
                   profile.read * subgroups * double(tile.rows * tile.unit.rows + tile.columns * tile.unit.columns);
  double steps = sizes.sums * double(llvm::divideCeilSigned(int64_t(sizes.inner), tile.depth));
  constexpr double kBarriers = 32; // Cost of the barriers of a step.
  double block = steps * (depth * perTerm + kBarriers) + profile.store * blockRows * blockColumns;
  double blocks = sizes.outer * double(llvm::divideCeilSigned(int64_t(sizes.rows), tile.blockRows())) *
                  double(llvm::divideCeilSigned(int64_t(sizes.columns), tile.blockColumns()));
  return block * std::max(blocks, double(profile.enough) / subgroups);
}

static bool fits(const CooperativeMatrixTile &tile, const CooperativeMatrixProfile &profile) {
  int64_t accumulators = tile.rows * tile.columns * tile.unit.rows * tile.unit.columns;
  bool isOne = tile.rows * tile.columns == 1;
  return tile.subgroups() <= profile.maxSubgroups && tile.subgroups() * profile.lanes <= profile.maxInvocations &&
         (isOne || accumulators <= profile.maxAccumulators * profile.lanes) &&
         countCooperativeMatrixMemory(tile) <= profile.memory;
}

/// Returns true if a block of half the size along the rows or columns would suffice.
static bool isTooLarge(const ProductSizes &sizes, const CooperativeMatrixTile &tile) {
  return (tile.blockRows() > tile.unit.rows && double(tile.blockRows() / 2) >= sizes.rows) ||
         (tile.blockColumns() > tile.unit.columns && double(tile.blockColumns() / 2) >= sizes.columns);
}

/// Calls `consider` with all tiles whose matrices have shape `tile.unit`.
template <typename Consider>
static void enumerateTiles(CooperativeMatrixTile tile, Consider consider) {
  for (tile.depth = std::max<int64_t>(tile.unit.depth, 16); tile.depth <= std::max<int64_t>(tile.unit.depth, 32);
       tile.depth *= 2)
    for (tile.rows = 1; tile.rows <= 8; tile.rows *= 2)
      for (tile.columns = 1; tile.columns <= 8; tile.columns *= 2)
        for (tile.rowSubgroups = 1; tile.rowSubgroups <= 4; tile.rowSubgroups *= 2)
          for (tile.columnSubgroups = 1; tile.columnSubgroups <= 4; tile.columnSubgroups *= 2)
            consider(tile);
}

std::optional<CooperativeMatrixTile> inlay::chooseCooperativeMatrixTile(const LoopNestShape &shape,
                                                                        const CooperativeMatrixProfile &profile) {
  constexpr double kMinUse = 0.2; // Minimum fraction of the computed elements that are used.
  std::optional<ProductLoops> loops = findProductLoops(shape);
  if (!loops || profile.lanes < 2)
    return std::nullopt;
  ProductSizes sizes = ProductSizes::of(shape, *loops);
  if (sizes.rows < 2 || sizes.columns < 2 || sizes.inner < 1 || sizes.countTerms() < double(profile.minTerms))
    return std::nullopt;
  std::optional<CooperativeMatrixTile> best;
  double bestCost = 0;
  for (const CooperativeMatrixShape &unit : profile.units) {
    if (getUse(sizes, double(unit.rows), double(unit.columns), double(unit.depth)) < kMinUse)
      continue;
    CooperativeMatrixTile tile;
    tile.loops = *loops;
    tile.unit = unit;
    tile.lanes = profile.lanes;
    enumerateTiles(tile, [&](const CooperativeMatrixTile &other) {
      double cost = getCost(sizes, other, profile);
      if (!fits(other, profile) || isTooLarge(sizes, other) || (best && cost >= bestCost))
        return;
      best = other;
      bestCost = cost;
    });
  }
  return best;
}
