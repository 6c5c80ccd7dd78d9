// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how a workgroup of a GPU computes a block of a product from operands in workgroup memory. The functions
// depend only on loop sizes, access strides and the figures of a profile, so unit tests need neither IR nor a device.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTPOLICY_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTPOLICY_H

#include "ProductBlock.h"
#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

namespace inlay {

/// The facts and figures by which blocks are chosen. The costs have the unit of SubgroupProductProfile, one instruction
/// of a whole subgroup. They are estimates, not measurements.
struct WorkgroupProductProfile {
  int64_t lanes = 0;            ///< Invocations of a subgroup; 0 if workgroups must not compute products.
  int64_t maxInvocations = 128; ///< Invocations of a workgroup.
  int64_t memory = 16384;       ///< Bytes of workgroup memory that a kernel may use.
  int64_t maxSums = 64;         ///< Sums that an invocation keeps in registers.
  int64_t maxUnrolled = 1024;   ///< Multiply-adds in the body of a loop. Drivers take longer to compile more.
  double enough = 512;          ///< Number of subgroups that keep the device busy.
  double load = 16;             ///< Cost of copying a vector of four elements to workgroup memory.
  double read = 4;              ///< Cost of reading a vector of four elements from workgroup memory.
  double store = 8;             ///< Cost of writing an element of the result.
  double barrier = 24;          ///< Cost of the barrier of a step.

  /// Returns the profile of a device whose subgroups have `profile`. The profile of a software device has no lanes:
  /// its invocations gain nothing from workgroup memory.
  static WorkgroupProductProfile from(const SubgroupProductProfile &profile, int64_t maxInvocations, int64_t memory);
};

/// Each invocation of a workgroup computes `rows` times `columns` sums of a block. There is workgroup memory for the
/// operands of two steps.
struct WorkgroupProductTile {
  ProductLoops loops;
  int64_t rows = 1, columns = 1;                     ///< Sums of an invocation.
  int64_t rowInvocations = 1, columnInvocations = 1; ///< Invocations along the rows and columns of the block.
  int64_t depth = 1;                                 ///< Terms of a step.

  int64_t invocations() const { return rowInvocations * columnInvocations; }
  BlockSize block() const { return {rows * rowInvocations, columns * columnInvocations, depth, invocations()}; }
};

/// The number of steps whose operands are in workgroup memory at the same time.
inline constexpr int64_t kStepBuffers = 2;

/// Returns the cheapest tile by `profile`, with f32 operands. Returns nullopt if the op is not a product, if it has too
/// few rows or columns or too many terms, or if `cost` is less, which is the cost of the best kernel of another kind.
std::optional<WorkgroupProductTile> chooseWorkgroupProductTile(const LoopNestShape &shape,
                                                               const WorkgroupProductProfile &profile, double cost);

/// Returns the cost of all blocks. If there are fewer subgroups than keep the device busy, the cost is that of as many.
double getWorkgroupProductCost(const ProductSizes &sizes, const WorkgroupProductTile &tile,
                               const WorkgroupProductProfile &profile);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTPOLICY_H
