// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a product that workgroups compute, and the roles of its loops. The functions depend only on loop sizes
// and access strides.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_PRODUCTBLOCK_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_PRODUCTBLOCK_H

#include "inlay/Convert/LoopNest/TilePolicy.h"

#include <optional>

namespace inlay {

/// The roles of the loops of a product.
struct ProductLoops {
  unsigned lhs = 0;          ///< The input that has the rows. The other input has the columns.
  std::vector<size_t> outer; ///< Parallel loops that index both inputs or none. Each step is a separate product.
  std::vector<size_t> rows, columns; ///< Parallel loops that together count rows or columns, the last one fastest.
  std::vector<size_t> sums;          ///< Reductions other than the inner one.
  size_t inner = 0;                  ///< The reduction along the depth of a block.
};

/// Returns the roles of the loops of `shape`, a sum of products of two inputs. Returns nullopt if one input has no rows
/// or columns that the other lacks, or if no reduction indexes both inputs.
std::optional<ProductLoops> findProductLoops(const LoopNestShape &shape);

/// The sizes of a product: the number of steps of the loops with each role, at most 1e15.
struct ProductSizes {
  double outer, rows, columns, sums, inner;

  static ProductSizes of(const LoopNestShape &shape, const ProductLoops &loops);
  double countTerms() const { return outer * rows * columns * sums * inner; }
};

/// A block of a product. In each step, the invocations of a workgroup copy the operands of `depth` terms to workgroup
/// memory.
struct BlockSize {
  int64_t rows, columns, depth;
  int64_t invocations; ///< Of the workgroup.
};

/// Returns the distance between lines of `minor` elements in workgroup memory. Lines start at multiples of 16 bytes,
/// and the distance avoids bank conflicts.
int64_t getBlockPitch(int64_t minor, int64_t elementBytes);

/// Returns the bytes of workgroup memory that the operands of a step need, whether their lines are along the terms or
/// across them.
int64_t countBlockMemory(const BlockSize &size, int64_t elementBytes);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_PRODUCTBLOCK_H
