// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how cooperative matrices compute a product. The functions depend only on loop sizes, access strides and the
// figures of a profile, so unit tests need neither IR nor a device.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXPOLICY_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXPOLICY_H

#include "ProductBlock.h"

namespace inlay {

/// The shape of a matrix multiplication by a subgroup: `rows` x `depth` times `depth` x `columns`, of f16, accumulated
/// in f32.
struct CooperativeMatrixShape {
  int64_t rows, columns, depth;
};

/// The figures by which tiles are chosen. Costs are for the work of one subgroup; only their ratios matter. The costs
/// of GPUs are estimates, not measurements.
struct CooperativeMatrixProfile {
  std::vector<CooperativeMatrixShape> units; ///< Supported shapes; empty without cooperative matrices.
  int64_t lanes = 0;                         ///< Invocations of a subgroup.
  int64_t maxInvocations = 128;              ///< Invocations of a workgroup.
  int64_t memory = 16384;                    ///< Bytes of workgroup memory that a kernel may use.
  int64_t maxAccumulators = 64;              ///< Accumulators of an invocation.
  int64_t maxSubgroups = 8;                  ///< Subgroups of a workgroup.
  int64_t enough = 512;                      ///< Number of subgroups that keep the device busy.
  double multiply = 1.0 / 1024;              ///< Cost of a multiplication and an addition.
  double load = 1.0 / 32;                    ///< Cost of copying an element to workgroup memory.
  double read = 1.0 / 64;                    ///< Cost of reading an element from workgroup memory.
  double store = 1.0 / 16;                   ///< Cost of writing an element of the result.
  int64_t minTerms = 16 * 16 * 64; ///< Number of terms of all sums below which cooperative matrices do not pay.
};

/// A workgroup computes a block of rows times columns. Its subgroups share the block; each accumulates several matrices
/// of sums. The operands of `depth` terms are copied to workgroup memory in each step.
struct CooperativeMatrixTile {
  ProductLoops loops;
  CooperativeMatrixShape unit{};
  int64_t rows = 1, columns = 1;                 ///< Matrices of a subgroup along the rows and columns.
  int64_t rowSubgroups = 1, columnSubgroups = 1; ///< Subgroups along the rows and columns.
  int64_t depth = 1;                             ///< Terms of a step.
  int64_t lanes = 1;                             ///< Invocations of a subgroup.

  int64_t subgroups() const { return rowSubgroups * columnSubgroups; }
  int64_t blockRows() const { return unit.rows * rows * rowSubgroups; }
  int64_t blockColumns() const { return unit.columns * columns * columnSubgroups; }
  BlockSize block() const { return {blockRows(), blockColumns(), depth, subgroups() * lanes}; }
};

/// Returns the bytes of workgroup memory that `tile` needs for operands and for one matrix of sums per subgroup.
int64_t countCooperativeMatrixMemory(const CooperativeMatrixTile &tile);

/// Returns the cheapest tile by `profile`, or nullopt if cooperative matrices cannot compute the product or do not pay.
std::optional<CooperativeMatrixTile> chooseCooperativeMatrixTile(const LoopNestShape &shape,
                                                                 const CooperativeMatrixProfile &profile);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXPOLICY_H
