// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a product is spread over the workgroups of a device whose subgroups multiply matrices on units of their own. Pure
// functions of loop sizes, access strides and a device's properties, so that they can be tested without IR or device.

#ifndef INLAY_CONVERT_LOOPNEST_COOPERATIVEMATRIXPOLICY_H
#define INLAY_CONVERT_LOOPNEST_COOPERATIVEMATRIXPOLICY_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include <optional>

namespace inlay {

/// What a subgroup multiplies at once: `rows` x `depth` times `depth` x `columns`, of f16, added up in f32.
struct CooperativeMatrixShape {
  int64_t rows, columns, depth;
};

/// What choices are made by. Costs are of one subgroup's work; only their ratios matter. Those of GPUs are estimates.
struct CooperativeMatrixProfile {
  std::vector<CooperativeMatrixShape> units; ///< what the device has; none: it has no such units
  int64_t lanes = 0;                         ///< invocations of a subgroup
  int64_t maxInvocations = 128;              ///< of a workgroup
  int64_t memory = 16384;                    ///< bytes of a workgroup's memory that a kernel may use
  int64_t maxAccumulators = 64;              ///< of one invocation
  int64_t maxSubgroups = 8;                  ///< of a workgroup
  int64_t enough = 512;                      ///< subgroups that keep the device busy
  double multiply = 1.0 / 1024;              ///< a multiplication and an addition
  double load = 1.0 / 32;                    ///< bringing an element to the workgroup's memory
  double read = 1.0 / 64;                    ///< reading it from there
  double store = 1.0 / 16;                   ///< writing an element of the result
  int64_t minTerms = 16 * 16 * 64;           ///< with fewer to add up in all, it doesn't pay
};

/// Which part the loops of a product have.
struct CooperativeMatrixLoops {
  unsigned lhs = 0;                  ///< the input that has the rows; the other one has the columns
  std::vector<size_t> outer;         ///< parallel: the product is computed at each of their steps by itself
  std::vector<size_t> rows, columns; ///< parallel: together they count rows or columns, the last one fastest
  std::vector<size_t> sums;          ///< reductions, but for the inner one
  size_t inner = 0;                  ///< the reduction along which matrices are deep
};

/// A workgroup computes a block of rows times columns. Its subgroups divide it among them; each has several matrices of
/// sums. What `depth` terms need is brought to the workgroup's memory, step by step.
struct CooperativeMatrixTile {
  CooperativeMatrixLoops loops;
  CooperativeMatrixShape unit{};
  int64_t rows = 1, columns = 1;                 ///< matrices of a subgroup along each
  int64_t rowSubgroups = 1, columnSubgroups = 1; ///< subgroups along each
  int64_t depth = 1;                             ///< terms of a step

  int64_t subgroups() const { return rowSubgroups * columnSubgroups; }
  int64_t blockRows() const { return unit.rows * rows * rowSubgroups; }
  int64_t blockColumns() const { return unit.columns * columns * columnSubgroups; }
};

/// Elements between what is `minor` elements long in the workgroup's memory: more, so that banks differ.
int64_t getCooperativeMatrixPitch(int64_t minor);

/// Bytes of a workgroup's memory that `tile` takes: operands, and a matrix of sums for each subgroup.
int64_t countCooperativeMatrixMemory(const CooperativeMatrixTile &tile);

/// The parts of the loops of `shape`, a sum of products of two inputs; nothing if an input moves along no rows or
/// columns of its own, or both along no reduction.
std::optional<CooperativeMatrixLoops> findCooperativeMatrixLoops(const LoopNestShape &shape);

/// The tile that takes the least time by `profile`; nothing if matrices can't compute the product, or don't pay.
std::optional<CooperativeMatrixTile> chooseCooperativeMatrixTile(const LoopNestShape &shape,
                                                                 const CooperativeMatrixProfile &profile);

} // namespace inlay

#endif // INLAY_CONVERT_LOOPNEST_COOPERATIVEMATRIXPOLICY_H
