// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the tile of a product that subgroups compute, by a cost per step, and has the default figures of profiles.
// SubgroupProductEmitter.cpp emits it. Other loop nests have Convert/LoopNest/TilePolicy.cpp.

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace inlay;

SubgroupProductProfile SubgroupProductProfile::forSoftware(int64_t lanes, bool readsTexels, bool addsLanes) {
  SubgroupProductProfile profile;
  profile.lanes = lanes;
  profile.addsLanes = addsLanes;
  profile.maxPoints = 128;
  profile.maxUnrolled = profile.maxFused = 700;
  profile.enough = 16;
  profile.quad = readsTexels ? 16 : 34;
  profile.launch = 50000;
  return profile;
}

SubgroupProductProfile SubgroupProductProfile::forGPU(int64_t lanes, bool addsLanes) {
  SubgroupProductProfile profile;
  profile.lanes = lanes;
  profile.loadsUniformly = true;
  profile.addsLanes = profile.addsLanesFast = addsLanes;
  profile.load = 8;
  profile.quad = 12;
  return profile;
}

double *SubgroupProductProfile::find(std::string_view key) {
  const std::pair<std::string_view, double *> figures[] = {{"load", &load},           {"quad", &quad},
                                                           {"broadcast", &broadcast}, {"launch", &launch},
                                                           {"points", &maxPoints},    {"subgroups", &enough}};
  for (auto [name, figure] : figures)
    if (name == key)
      return figure;
  return nullptr;
}

//===-- Loads of a tile ------------------------------------------------------------------------------------------===//

bool inlay::isLoadedTogether(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input) {
  for (size_t loop = 0; loop < shape.loops.size(); ++loop)
    if (tile.isLaneLoop[loop] && !shape.loops[loop].isSingle() && shape.inputStrides[input][loop] != 0)
      return false;
  return true;
}

/// Returns true if each tile consists of whole vectors along `loop`.
static bool hasWholeQuads(const LoopNestShape &shape, const SubgroupProductTile &tile, int loop) {
  if (loop < 0)
    return false;
  if (loop == tile.innerLoop)
    return tile.depth % 4 == 0 && shape.loops[loop].size % tile.depth == 0;
  return tile.factor(loop) % 4 == 0;
}

int inlay::findQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input) {
  int loop = input < shape.inputQuads.size() ? shape.inputQuads[input] : -1;
  return hasWholeQuads(shape, tile, loop) ? loop : -1;
}

int inlay::findStoredQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile) {
  return shape.outputQuad == tile.columnLoop && hasWholeQuads(shape, tile, shape.outputQuad) ? shape.outputQuad : -1;
}

/// Returns the number of elements that a tile reads of an operand in `depth` steps. Neighboring windows overlap, except
/// in tiles that are cut short.
static int64_t countElements(const LoopNestShape &shape, const std::vector<int64_t> &strides,
                             const SubgroupProductTile &tile) {
  int64_t rows = tile.rowLoop >= 0 && strides[tile.rowLoop] != 0 ? tile.rows : 1;
  int64_t column = strides[tile.columnLoop], inner = strides[tile.innerLoop];
  const LoopNestShape::Loop &columns = shape.loops[tile.columnLoop];
  if (column == 0 || inner == 0 || columns.isOpen || columns.size % tile.columns)
    return rows * (column ? tile.columns : 1) * (inner ? tile.depth : 1);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < tile.columns; ++i)
    for (int64_t k = 0; k < tile.depth; ++k)
      offsets.push_back(i * column + k * inner);
  std::sort(offsets.begin(), offsets.end());
  return rows * (std::unique(offsets.begin(), offsets.end()) - offsets.begin());
}

/// Returns the cost of `depth` steps of `tile`.
static double getStepCost(const LoopNestShape &shape, const SubgroupProductTile &tile,
                          const SubgroupProductProfile &profile) {
  double cost = profile.step * double(tile.rows * tile.columns * tile.depth);
  for (size_t input = 0; input < shape.inputStrides.size(); ++input) {
    int64_t elements = countElements(shape, shape.inputStrides[input], tile);
    bool isQuad = findQuadLoop(shape, tile, input) >= 0;
    int64_t loads = isQuad ? llvm::divideCeilSigned(elements, 4) : elements;
    if (isLoadedTogether(shape, tile, input)) {
      cost += profile.broadcast * double(profile.loadsUniformly ? loads : elements);
      if (profile.loadsUniformly)
        continue;
      loads = llvm::divideCeilSigned(loads, profile.lanes);
    }
    cost += double(loads) * (isQuad ? profile.quad : profile.load);
  }
  return cost;
}

double inlay::getSubgroupProductCost(const LoopNestShape &shape, const SubgroupProductTile &tile,
                                     const SubgroupProductProfile &profile) {
  double others = 1, positions = 1, subgroups = 1;
  for (size_t loop = 0; loop < shape.loops.size(); ++loop) {
    auto size = double(llvm::divideCeilSigned(shape.loops[loop].size, tile.factor(int(loop))));
    if (shape.loops[loop].reduction)
      others *= int(loop) == tile.innerLoop ? 1 : size;
    else
      (tile.isLaneLoop[loop] ? positions : subgroups) *= size;
  }
  subgroups *= double(llvm::divideCeilSigned(int64_t(std::min(positions, 1e15)), profile.lanes));
  double steps = others * double(llvm::divideCeilSigned(shape.loops[tile.innerLoop].size, tile.depth));
  double stores = double(tile.rows * tile.columns) * profile.load;
  if (findStoredQuadLoop(shape, tile) >= 0)
    stores *= profile.quad / profile.load / 4;
  return (steps * getStepCost(shape, tile, profile) + stores) * std::max(subgroups, profile.enough);
}

//===-- Choosing ------------------------------------------------------------------------------------------------===//

namespace {
/// The best tile so far.
struct Best {
  const LoopNestShape &shape;
  const SubgroupProductProfile &profile;
  std::optional<SubgroupProductTile> tile = std::nullopt;
  double cost = 0;

  void consider(const SubgroupProductTile &other) {
    double otherCost = getSubgroupProductCost(shape, other, profile);
    if (tile && otherCost >= cost)
      return;
    tile = other;
    cost = otherCost;
  }
};
} // namespace

int64_t inlay::countUnrolled(const LoopNestShape &shape, const SubgroupProductTile &tile) {
  constexpr int64_t kStore = 5; // Steps that take a driver as long to compile as one store.
  int64_t points = tile.rows * tile.columns;
  return points * tile.depth + kStore * (findStoredQuadLoop(shape, tile) >= 0 ? points / 4 : points);
}

/// Considers tiles of all sizes along the loops of `tile`.
static void considerSizes(Best &best, SubgroupProductTile tile) {
  const SubgroupProductProfile &profile = best.profile;
  int64_t rowSize = tile.rowLoop < 0 ? 1 : best.shape.loops[tile.rowLoop].size;
  int64_t columnSize = best.shape.loops[tile.columnLoop].size;
  for (tile.rows = std::min<int64_t>(rowSize, 16); tile.rows >= 1; --tile.rows)
    for (tile.columns = std::min<int64_t>(columnSize, 16); tile.columns >= 1; --tile.columns) {
      int64_t points = tile.rows * tile.columns;
      bool fits = double(points) <= profile.maxPoints && countUnrolled(best.shape, tile) <= profile.maxUnrolled;
      if (fits || points == 1) // At least one tile must be considered.
        best.consider(tile);
    }
}

/// Returns true if some input does not move along `loop`, so that rows share the loads of that input.
static bool hasReuse(const LoopNestShape &shape, size_t loop) {
  return std::any_of(shape.inputStrides.begin(), shape.inputStrides.end(),
                     [&](const std::vector<int64_t> &strides) { return strides[loop] == 0; });
}

/// Considers the tiles whose lanes go along all parallel loops along which operand `tile.uniform` does not move.
static void considerLoops(Best &best, SubgroupProductTile tile) {
  const LoopNestShape &shape = best.shape;
  std::vector<int> rows{-1}, columns;
  for (size_t i = shape.loops.size(); i-- > 0;) {
    if (shape.loops[i].reduction || shape.loops[i].isSingle())
      continue;
    if (tile.isLaneLoop[i])
      columns.push_back(int(i));
    else if (hasReuse(shape, i))
      rows.push_back(int(i));
  }
  for (int row : rows)
    for (int column : columns) {
      tile.rowLoop = row;
      tile.columnLoop = column;
      considerSizes(best, tile);
    }
}

/// Returns the last reduction with more than one step, or the last reduction if there is none.
static int findInnerLoop(const LoopNestShape &shape) {
  int inner = -1;
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (shape.loops[i].reduction && (inner < 0 || !shape.loops[i].isSingle()))
      inner = int(i);
  return inner;
}

std::optional<SubgroupProductTile> inlay::chooseSubgroupProductTile(const LoopNestShape &shape,
                                                                    const SubgroupProductProfile &profile) {
  int inner = findInnerLoop(shape);
  if (profile.lanes < 2 || inner < 0 || shape.inputStrides.size() < 2)
    return std::nullopt;
  int64_t size = shape.loops[inner].size;
  if (size < 1)
    return std::nullopt;
  Best best{shape, profile};
  for (unsigned input = 0; input < shape.inputStrides.size(); ++input) {
    SubgroupProductTile tile;
    tile.uniform = input;
    tile.innerLoop = inner;
    tile.depth = size <= 8 && !shape.loops[inner].isOpen ? size : std::min<int64_t>(size, 4);
    const std::vector<int64_t> &strides = shape.inputStrides[input];
    if (std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; }))
      continue; // The operand is a scalar.
    for (size_t i = 0; i < shape.loops.size(); ++i)
      tile.isLaneLoop.push_back(!shape.loops[i].reduction && strides[i] == 0);
    considerLoops(best, tile);
  }
  return best.tile;
}
