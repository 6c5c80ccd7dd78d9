// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What partitioning has to know of ops and types besides who can run them: from `PartitionOpInterface`, from upstream's
// traits and interfaces, or from attributes.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H
#define INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace inlay {

/// A constant, in no segment: each segment that uses it has a copy.
bool isConstantLike(mlir::Operation *op);

/// An `scf` op: wholly on one accelerator, or a segment of its own whose regions are partitioned.
bool isControlFlow(mlir::Operation *op);

/// All effects of an op that says so itself (`inlay.opaque`, `inlay.writes`, `PartitionOpInterface::statesEffects`), by
/// operand number.
struct StatedEffects {
  llvm::ArrayRef<int64_t> writes, aliases;
  bool inOrder = false; ///< an effect on the framework besides
};

/// Nothing if the op, or whoever attached the interface, doesn't state them; then upstream's interfaces count.
std::optional<StatedEffects> getStatedEffects(mlir::Operation *op);

/// Moves no data worth mention: a view of a tensor, its sizes, or making, reading or changing a list or tuple. May be
/// copied into each segment that needs its result.
bool isCheapToClone(mlir::Operation *op);

/// What an op does to lists, tuples and objects: what it reads or changes is its first operand.
enum class CollectionUse { None, Makes, Reads, Changes };
CollectionUse getCollectionUse(mlir::Operation *op);

/// What is asked of the ops of a graph again and again, found in one look at each.
struct PartitionOpInfo {
  bool isControlFlow : 1;
  /// Gives a tensor another shape or order of dims, or a part of a collection, without arithmetic.
  bool isLayout : 1;
  /// May join the segment of any target that can run it: layout, list and tuple ops, and what `inlay.neutral` marks.
  bool isNeutral : 1;
  bool isCheapToClone : 1;
  /// Makes or changes what may not cross a border.
  bool makesNonTensor : 1;
  /// `inlay.target` pins it.
  bool isPinned : 1;
  /// `inlay.do_not_merge` keeps it alone.
  bool isIsolated : 1;
};
PartitionOpInfo findFacts(mlir::Operation *op);

/// Nothing says what memory the op touches, so it may touch any, and its operands that are no tensors or scalars.
bool mayAccessAnything(mlir::Operation *op);

/// Tensors, the memory of tensors and scalars may enter and leave an accelerator; lists, tuples and objects may not.
bool mayCrossBorder(mlir::Type type);

/// The size of a tensor or scalar, where it is known.
std::optional<int64_t> countBytes(mlir::Type type);

/// The label of an op in reports, once `inlay-partition-annotate-targets` has run: its name location.
llvm::StringRef getLabel(mlir::Operation *op);
mlir::StringAttr getLabelAttr(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H
