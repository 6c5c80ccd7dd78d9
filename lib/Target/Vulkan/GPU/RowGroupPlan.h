// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the invocations and the memory of a workgroup are spent on a block of rows. Pure functions, so that they can be
// tested without IR.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUPPLAN_H
#define INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUPPLAN_H

#include <cstdint>
#include <optional>
#include <vector>

namespace inlay {

/// A buffer of one element type in a workgroup's memory, needed from step `first` to step `last`, both included.
struct RowBuffer {
  int64_t perRow;   ///< elements of each row; 0 if rows share them
  int64_t perGroup; ///< elements that rows share; 0 if each has its own
  unsigned first, last;
};

struct RowGroupPlan {
  int64_t rows = 1;
  std::vector<int64_t> offsets; ///< of buffers, in elements
  int64_t elements = 0;         ///< of the memory for all of them
};

/// The most rows, `maxRows` halved any number of times, whose buffers fit into `elements`; nothing if one row's don't.
std::optional<RowGroupPlan> planRowGroup(const std::vector<RowBuffer> &buffers, int64_t maxRows, int64_t elements);

/// How many of `invocations`, a power of two, share each of `points` reductions: a power of two.
int64_t chooseShares(int64_t invocations, int64_t points);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_ROWGROUPPLAN_H
