// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how a subgroup computes a product. A product is an op with a reduction and with an operand that does not move
// along some of the parallel loops. The functions depend only on loop sizes, access strides and a profile, so unit
// tests need neither IR nor a device.

#ifndef INLAY_TARGET_VULKAN_SUBGROUPPRODUCTPOLICY_H
#define INLAY_TARGET_VULKAN_SUBGROUPPRODUCTPOLICY_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include <optional>
#include <string_view>

namespace inlay {

/// The costs and limits by which tiles are chosen. A cost is that of one instruction of a whole subgroup. Only the
/// ratios of the costs matter.
struct SubgroupProductProfile {
  int64_t lanes = 0; ///< Invocations of a subgroup that can broadcast values; 0 if they cannot.
  /// True if all lanes load a shared element from the same address. GPUs do this in a scalar unit, or with one access
  /// for all lanes. False if each lane loads a part of the shared elements and broadcasts it.
  bool loadsUniformly = false;
  bool addsLanes = false;     ///< True if a subgroup can add up the values of its lanes.
  bool addsLanesFast = false; ///< True if that takes no longer than a few loads.
  double maxPoints = 32;      ///< Accumulators of an invocation.
  int64_t maxUnrolled = 256; ///< Number of unrolled steps, including stores. Drivers take longer to compile more steps.
  int64_t maxFused = 4096;   ///< Number of unrolled instructions of an elementwise op before or after a product.
  double enough = 256;       ///< Number of subgroups that keep the device busy.
  double load = 16;          ///< Cost of loading an element.
  double quad = 18;          ///< Cost of loading an aligned vector of four elements.
  double broadcast = 2;      ///< Cost of a broadcast to all lanes, or of a load with one address for all lanes.
  double step = 1;           ///< Cost of a multiplication and an addition.
  double launch = 500000;    ///< Cost of launching another kernel.

  /// Returns the profile of a software device that runs the invocations of a subgroup in the lanes of CPU vectors and
  /// executes their loads one by one. `addsLanes` is true if its subgroups can add up the values of their lanes.
  static SubgroupProductProfile forSoftware(int64_t lanes, bool readsTexels, bool addsLanes = false);
  /// Returns the profile of a GPU. `addsLanes` is true if its subgroups can add up the values of their lanes.
  static SubgroupProductProfile forGPU(int64_t lanes, bool addsLanes = false);

  /// Returns the member that has the key `key` in tuning files (Support/Tuning.h), or null if there is none.
  double *find(std::string_view key);
};

/// The lanes of a subgroup compute different steps of the *lane loops*, the parallel loops along which operand
/// `uniform` does not move. A lane computes `columns` steps of a lane loop times `rows` steps of another parallel loop.
struct SubgroupProductTile {
  unsigned uniform = 0;
  std::vector<bool> isLaneLoop; ///< Per loop.
  int rowLoop = -1;             ///< Loop of the rows; -1 if there is only one row.
  int columnLoop = -1;          ///< A lane loop.
  int innerLoop = -1;           ///< The last reduction.
  int64_t rows = 1, columns = 1;
  int64_t depth = 1; ///< Steps of the inner loop that are unrolled.

  /// Returns the number of steps of a tile along `loop`.
  int64_t factor(int loop) const { return loop == rowLoop ? rows : loop == columnLoop ? columns : 1; }
};

/// Returns the cheapest tile by `profile`, or nullopt if the op is not a product or lanes cannot broadcast values.
std::optional<SubgroupProductTile> chooseSubgroupProductTile(const LoopNestShape &shape,
                                                             const SubgroupProductProfile &profile);

/// Returns the cost of all tiles of the shape of `tile`. If there are fewer subgroups than `profile.enough`, returns
/// the cost of that many, because the rest of the device is idle.
double getSubgroupProductCost(const LoopNestShape &shape, const SubgroupProductTile &tile,
                              const SubgroupProductProfile &profile);

/// Returns the number of unrolled steps of a kernel with such tiles. Stores count as several steps.
int64_t countUnrolled(const LoopNestShape &shape, const SubgroupProductTile &tile);

/// Returns true if all lanes need the same elements of `input`.
bool isLoadedTogether(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input);

/// Returns the loop along which `tile` loads aligned vectors of four elements of `input`, or -1 if it loads single
/// elements.
int findQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile, size_t input);

/// Returns the loop along which `tile` stores aligned vectors of four elements of the output, or -1.
int findStoredQuadLoop(const LoopNestShape &shape, const SubgroupProductTile &tile);

} // namespace inlay

#endif // INLAY_TARGET_VULKAN_SUBGROUPPRODUCTPOLICY_H
