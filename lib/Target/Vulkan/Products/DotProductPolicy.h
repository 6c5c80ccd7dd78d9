// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how subgroups compute a product with few rows, such as a matrix times a vector. The functions depend only on
// loop sizes, access strides and facts of a device, so unit tests need neither IR nor a device.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTPOLICY_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTPOLICY_H

#include "inlay/Target/Vulkan/SubgroupProductPolicy.h"

#include <optional>

namespace inlay {

/// The facts of a device by which tiles are chosen.
struct DotProductProfile {
  int64_t lanes = 0;            ///< Invocations of a subgroup; 0 if a subgroup cannot add up the values of its lanes.
  int64_t maxInvocations = 128; ///< Invocations of a workgroup.
  int64_t enough = 256;         ///< Number of subgroups that keep the device busy.

  /// Returns the facts that `profile` has, with workgroups of at most `maxInvocations` invocations. isPacked: true for
  /// products with packed weights. Unpacking them takes much longer than adding up lanes, even where that is slow.
  static DotProductProfile from(const SubgroupProductProfile &profile, int64_t maxInvocations, bool isPacked = false);
};

/// A workgroup computes `rows` times `columns` results, each as a dot product. The lanes of its subgroups go along the
/// sum: in a step, each lane loads `width` consecutive terms, and neighboring lanes load neighboring terms. The columns
/// belong to the *streamed* input, whose elements are read only once.
struct DotProductTile {
  unsigned streamed = 0;
  int rowLoop = -1;    ///< A parallel loop that only the other input moves along; -1 if there is only one row.
  int columnLoop = -1; ///< A parallel loop that only the streamed input moves along.
  int innerLoop = -1;  ///< The reduction.
  int64_t rows = 1, columns = 1;
  int64_t width = 1;     ///< Terms of a lane in a step.
  int64_t depth = 1;     ///< Steps of an iteration, whose loads overlap.
  int64_t subgroups = 1; ///< Subgroups of a workgroup. They share the sum.

  /// Returns the number of results of a workgroup.
  int64_t results() const { return rows * columns; }
  /// Returns the number of results of a workgroup along `loop`.
  int64_t factor(int loop) const { return loop == rowLoop ? rows : loop == columnLoop ? columns : 1; }
};

/// Returns true if a product of `rows` rows whose sums have `terms` terms should be computed by dot products. With few
/// rows, the time of a product is that of loading the other operand. With few terms, most lanes would be idle.
bool shouldUseDotProducts(int64_t rows, int64_t terms, const DotProductProfile &profile);

/// Returns true if dot products should compute the op, which must be a sum of products of its inputs.
bool isDotProduct(const LoopNestShape &shape, const DotProductProfile &profile);

/// Returns the tile, or nullopt if dot products cannot or should not compute the op. `widths` has the number of
/// consecutive elements that a lane loads at once for each input: 1, or a multiple of 4 that may be loaded as vectors.
///
/// The time of such a product is that of streaming one operand from memory. It is shortest if enough loads are in
/// flight, which needs enough subgroups (`profile.enough`) with several independent loads each. More columns share the
/// loads of the other operand, so a workgroup has as many as leave enough workgroups. Only if one column is too many
/// already, several subgroups share a sum.
std::optional<DotProductTile> chooseDotProductTile(const LoopNestShape &shape, const std::vector<int64_t> &widths,
                                                   const DotProductProfile &profile);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_DOTPRODUCTPOLICY_H
