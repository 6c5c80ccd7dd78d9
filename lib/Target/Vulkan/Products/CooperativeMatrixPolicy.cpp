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

int64_t inlay::getCooperativeMatrixPitch(int64_t minor) {
  constexpr int64_t kPadding = 8; // Keeps rows at multiples of 16 bytes, as matrix loads require.
  return minor + kPadding;
}

int64_t inlay::countCooperativeMatrixMemory(const CooperativeMatrixTile &tile) {
  // An operand is contiguous along its terms or across them. The larger size of both is an upper bound.
  auto bytes = [&](int64_t across) {
    return kElementBytes *
           std::max(across * getCooperativeMatrixPitch(tile.depth), tile.depth * getCooperativeMatrixPitch(across));
  };
  return bytes(tile.blockRows()) + bytes(tile.blockColumns()) +
         kSumBytes * tile.subgroups() * tile.unit.rows * tile.unit.columns;
}

//===-- Loops ---------------------------------------------------------------------------------------------------===//

/// Returns the number of steps of `loops` together, capped at 1e15.
static double countSteps(const LoopNestShape &shape, const std::vector<size_t> &loops) {
  double steps = 1;
  for (size_t loop : loops)
    steps *= double(std::max<int64_t>(shape.loops[loop].size, 1));
  return std::min(steps, 1e15);
}

std::optional<CooperativeMatrixLoops> inlay::findCooperativeMatrixLoops(const LoopNestShape &shape) {
  if (shape.inputStrides.size() != 2)
    return std::nullopt;
  CooperativeMatrixLoops loops;
  // The columns are the loops along which the result is contiguous.
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (!shape.loops[i].reduction && shape.outputStrides[i] == 1 && !shape.loops[i].isSingle() &&
        (shape.inputStrides[0][i] != 0) != (shape.inputStrides[1][i] != 0))
      loops.lhs = shape.inputStrides[0][i] != 0 ? 1 : 0;
  bool hasInner = false;
  for (size_t i = 0; i < shape.loops.size(); ++i) {
    bool inLhs = shape.inputStrides[loops.lhs][i] != 0, inRhs = shape.inputStrides[1 - loops.lhs][i] != 0;
    if (!shape.loops[i].reduction) {
      (inLhs == inRhs ? loops.outer : inLhs ? loops.rows : loops.columns).push_back(i);
      continue;
    }
    loops.sums.push_back(i);
    if (inLhs && inRhs && (!hasInner || shape.loops[i].size >= shape.loops[loops.inner].size)) {
      loops.inner = i;
      hasInner = true;
    }
  }
  if (!hasInner || loops.rows.empty() || loops.columns.empty())
    return std::nullopt;
  loops.sums.erase(std::find(loops.sums.begin(), loops.sums.end(), loops.inner));
  return loops;
}

//===-- Choosing ------------------------------------------------------------------------------------------------===//

namespace {
/// The sizes of a product.
struct Sizes {
  double outer, rows, columns, sums, inner;

  /// Returns the fraction of the tiles' work that the product needs.
  double getUse(double blockRows, double blockColumns, double depth) const {
    auto whole = [](double size, double block) {
      return block * double(llvm::divideCeilSigned(int64_t(size), int64_t(block)));
    };
    return rows * columns * inner / (whole(rows, blockRows) * whole(columns, blockColumns) * whole(inner, depth));
  }
};
} // namespace

/// Returns the cost of all tiles. If there are fewer subgroups than keep the device busy, the cost is that of as many.
static double getCost(const Sizes &sizes, const CooperativeMatrixTile &tile, const CooperativeMatrixProfile &profile) {
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
static bool isTooLarge(const Sizes &sizes, const CooperativeMatrixTile &tile) {
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
  std::optional<CooperativeMatrixLoops> loops = findCooperativeMatrixLoops(shape);
  if (!loops || profile.lanes < 2)
    return std::nullopt;
  Sizes sizes{countSteps(shape, loops->outer), countSteps(shape, loops->rows), countSteps(shape, loops->columns),
              countSteps(shape, loops->sums), double(shape.loops[loops->inner].size)};
  if (sizes.rows < 2 || sizes.columns < 2 || sizes.inner < 1 ||
      sizes.outer * sizes.rows * sizes.columns * sizes.sums * sizes.inner < double(profile.minTerms))
    return std::nullopt;
  std::optional<CooperativeMatrixTile> best;
  double bestCost = 0;
  for (const CooperativeMatrixShape &unit : profile.units) {
    if (sizes.getUse(double(unit.rows), double(unit.columns), double(unit.depth)) < kMinUse)
      continue;
    CooperativeMatrixTile tile;
    tile.loops = *loops;
    tile.unit = unit;
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
