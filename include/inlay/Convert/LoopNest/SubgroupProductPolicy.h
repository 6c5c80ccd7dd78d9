// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a product, any op that reduces and of which an operand stays the same along some parallel loops, is spread over
// the invocations of a subgroup. Pure functions of loop sizes, access strides and a device's properties, so that they
// can be tested without IR or device.

#ifndef INLAY_CONVERT_LOOPNEST_SUBGROUPPRODUCTPOLICY_H
#define INLAY_CONVERT_LOOPNEST_SUBGROUPPRODUCTPOLICY_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include <optional>
#include <string_view>

namespace inlay {

/// What choices are made by. Costs are of one instruction of a whole subgroup; only their ratios matter.
struct SubgroupProductProfile {
  int64_t lanes = 0;         ///< invocations of a subgroup, which can hand values to each other; 0: they can't
  double maxPoints = 32;     ///< accumulators of an invocation
  int64_t maxUnrolled = 256; ///< steps that are written out, stores included: drivers compile longer for more
  double enough = 256;       ///< subgroups that keep the device busy
  double load = 16;          ///< cost of loading an element
  double quad = 18;          ///< cost of loading an aligned vector of four
  double broadcast = 2;      ///< cost of handing a value to all lanes
  double step = 1;           ///< cost of a multiplication and an addition
  double launch = 500000;    ///< cost of one kernel more, for all that could run meanwhile

  /// Software that runs the invocations of a subgroup in the lanes of a CPU's vectors, and loads them one by one.
  static SubgroupProductProfile forSoftware(int64_t lanes, bool readsTexels);
  static SubgroupProductProfile forGPU(int64_t lanes);

  /// The figure of a key of tuning files (Support/Tuning.h); null for another.
  double *find(std::string_view key);
};

/// Lanes go along the *lane loops*: the parallel ones along which operand `uniform` stays. A lane takes `columns` steps
/// of one of them, and `rows` of one of the other parallel loops, at once.
struct SubgroupProductTile {
  unsigned uniform = 0;
  std::vector<bool> isLaneLoop; ///< per loop
  int rowLoop = -1;             ///< -1: there is none, and one row
  int columnLoop = -1;          ///< a lane loop
  int innerLoop = -1;           ///< the last reduction
  int64_t rows = 1, columns = 1;
  int64_t depth = 1; ///< steps of the inner loop at once

  /// Steps of a tile along `loop`.
  int64_t factor(int loop) const { return loop == rowLoop ? rows : loop == columnLoop ? columns : 1; }
};

/// The tile that takes the least time by `profile`; nothing if the op isn't a product or lanes can't hand on values.
std::optional<SubgroupProductTile> chooseSubgroupProductTile(const LoopNestShape &shape,
                                                             const SubgroupProductProfile &profile);

/// What all tiles like `tile` cost by `profile`, as if no fewer subgroups ran than keep the device busy.
double getSubgroupProductCost(const LoopNestShape &shape, const SubgroupProductTile &tile,
                              const SubgroupProductProfile &profile);

/// Steps that a kernel of such tiles has written out, with what its stores count as.
int64_t countUnrolled(const LoopNestShape &shape, const SubgroupProductTile &tile);

/// True if `tile` loads `input` once for all lanes, each lane a part of it.
bool isLoadedTogether(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input);

/// The loop along which `tile` loads aligned vectors of four of `input`; -1 if it loads single elements.
int findQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input);

/// The same for storing the output.
int findStoredQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_SUBGROUPPRODUCTPOLICY_H
