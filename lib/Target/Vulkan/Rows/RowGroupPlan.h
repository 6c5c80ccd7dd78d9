// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans the use of the invocations and the memory of a workgroup for a row group. Pure functions, so that unit tests
// need no IR.

#ifndef INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUPPLAN_H
#define INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUPPLAN_H

#include <cstdint>
#include <optional>
#include <vector>

namespace inlay {

/// A buffer of one element type in workgroup memory. It is live from step `first` to step `last`, both included.
struct RowBuffer {
  int64_t perRow;   ///< Elements of each row; 0 if all rows share the elements.
  int64_t perGroup; ///< Elements that rows share; 0 if each row has separate elements.
  unsigned first, last;
};

struct RowGroupPlan {
  int64_t rows = 1;
  std::vector<int64_t> offsets; ///< Offset of each buffer in elements.
  int64_t elements = 0;         ///< Size of the memory for all buffers in elements.
};

/// Returns the plan with the most rows whose buffers fit into `elements`. The number of rows is `maxRows`, halved any
/// number of times. Returns nullopt if the buffers of one row do not fit.
std::optional<RowGroupPlan> planRowGroup(const std::vector<RowBuffer> &buffers, int64_t maxRows, int64_t elements);

/// Returns the number of invocations that share each of `points` reductions. It is a power of two. `invocations` is a
/// power of two too.
int64_t chooseShares(int64_t invocations, int64_t points);

/// Returns the number of invocations of a workgroup that computes one row of `elements` elements on a GPU: a power of
/// two from 64 to `maxInvocations`, which is a power of two too. With few elements per invocation, more of them can
/// wait for memory at the same time.
int64_t chooseRowInvocations(int64_t elements, int64_t maxInvocations);

/// Returns how many of the `steps` steps of a share one iteration runs on a GPU.
int64_t chooseUnrolled(int64_t steps);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_ROWS_ROWGROUPPLAN_H
