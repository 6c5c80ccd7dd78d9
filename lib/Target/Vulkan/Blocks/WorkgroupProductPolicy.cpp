// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the block of an f32 product that a workgroup computes, by a cost per step. WorkgroupProductEmitter.cpp emits
// it. Products on matrix units have CooperativeMatrixPolicy.cpp.

#include "WorkgroupProductPolicy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace inlay;

/// Size of an element in bytes.
static constexpr int64_t kFloatBytes = 4;
/// Elements of a vector.
static constexpr int64_t kWidth = 4;

WorkgroupProductProfile WorkgroupProductProfile::from(const SubgroupProductProfile &profile, int64_t maxInvocations,
                                                      int64_t memory) {
  WorkgroupProductProfile result;
  result.lanes = profile.loadsUniformly ? profile.lanes : 0;
  result.maxInvocations = maxInvocations;
  result.memory = memory;
  result.enough = 2 * profile.enough;
  return result;
}

static double countBlocks(double size, int64_t block) { return double(llvm::divideCeilSigned(int64_t(size), block)); }

double inlay::getWorkgroupProductCost(const ProductSizes &sizes, const WorkgroupProductTile &tile,
                                      const WorkgroupProductProfile &profile) {
  BlockSize block = tile.block();
  double subgroups = std::max(double(tile.invocations()) / double(profile.lanes), 1.0);
  double copied = double((block.rows + block.columns) * tile.depth) / double(kWidth * tile.invocations());
  double step = double(tile.rows * tile.columns * tile.depth) + profile.load * std::max(copied, 1.0) +
                profile.read * double((tile.rows + tile.columns) * tile.depth) / kWidth + profile.barrier;
  double steps = sizes.sums * countBlocks(sizes.inner, tile.depth);
  double all = steps * step + profile.store * double(tile.rows * tile.columns);
  double blocks = sizes.outer * countBlocks(sizes.rows, block.rows) * countBlocks(sizes.columns, block.columns);
  return all * std::max(blocks * subgroups, profile.enough);
}

static bool fits(const WorkgroupProductTile &tile, const WorkgroupProductProfile &profile) {
  int64_t sums = tile.rows * tile.columns;
  return tile.invocations() <= profile.maxInvocations && tile.invocations() >= profile.lanes &&
         sums <= profile.maxSums && sums * tile.depth <= profile.maxUnrolled &&
         kStepBuffers * countBlockMemory(tile.block(), kFloatBytes) <= profile.memory;
}

/// Calls `consider` with all tiles.
template <typename Consider>
static void enumerateTiles(WorkgroupProductTile tile, Consider consider) {
  for (tile.depth = 8; tile.depth <= 16; tile.depth *= 2)
    for (tile.rows = kWidth; tile.rows <= 8; tile.rows *= 2)
      for (tile.columns = kWidth; tile.columns <= 8; tile.columns *= 2)
        for (tile.rowInvocations = 4; tile.rowInvocations <= 16; tile.rowInvocations *= 2)
          for (tile.columnInvocations = 4; tile.columnInvocations <= 16; tile.columnInvocations *= 2)
            consider(tile);
}

std::optional<WorkgroupProductTile>
inlay::chooseWorkgroupProductTile(const LoopNestShape &shape, const WorkgroupProductProfile &profile, double cost) {
  std::optional<ProductLoops> loops = findProductLoops(shape);
  if (!loops || profile.lanes < 2)
    return std::nullopt;
  ProductSizes sizes = ProductSizes::of(shape, *loops);
  constexpr double kMinAcross = 8;      // Rows and columns below which most of a block would be unused.
  constexpr double kMaxTerms = 1 << 16; // More need partial sums of partial sums.
  if (sizes.rows < kMinAcross || sizes.columns < kMinAcross || sizes.inner < 1 || sizes.sums * sizes.inner > kMaxTerms)
    return std::nullopt;
  std::optional<WorkgroupProductTile> best;
  WorkgroupProductTile first;
  first.loops = *loops;
  enumerateTiles(first, [&](const WorkgroupProductTile &tile) {
    double other = getWorkgroupProductCost(sizes, tile, profile);
    if (!fits(tile, profile) || other >= cost)
      return;
    best = tile;
    cost = other;
  });
  return best;
}
