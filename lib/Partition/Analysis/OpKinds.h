// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of ops and types that partitioning needs, apart from the targets that can run them. They come from
// `PartitionOpInterface`, from upstream's traits and interfaces, or from attributes.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H
#define INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace inlay {

/// Returns true for a constant. It is in no segment: each segment that uses it has a copy.
bool isConstantLike(mlir::Operation *op);

/// Returns true for an `scf` op with regions. It runs wholly on one accelerator, or it is isolated and its regions are
/// partitioned.
bool isControlFlow(mlir::Operation *op);

/// All effects of an op that states them (by `inlay.opaque`, `inlay.writes` or `PartitionOpInterface::statesEffects`),
/// as operand numbers.
struct StatedEffects {
  llvm::ArrayRef<int64_t> writes, aliases;
  bool inOrder = false; ///< True if the op also has an effect on the framework.
};

/// Returns std::nullopt if neither the op nor an external model states its effects. Upstream's interfaces then apply.
std::optional<StatedEffects> getStatedEffects(mlir::Operation *op);

/// Returns true if the op moves hardly any data, so that each segment that needs its result may have a clone: it makes
/// a view of a tensor, returns the sizes of a tensor, or makes, reads or changes a list or tuple.
bool isCheapToClone(mlir::Operation *op);

/// The way in which an op uses lists, tuples and objects. The collection that it reads or changes is its first operand.
enum class CollectionUse { None, Makes, Reads, Changes };
CollectionUse getCollectionUse(mlir::Operation *op);

/// Properties that are needed often. They are computed once per op.
struct PartitionOpInfo {
  bool isControlFlow : 1;
  /// True if the op changes the shape or the order of dimensions of a tensor, or takes a part of a collection, without
  /// arithmetic.
  bool isLayout : 1;
  /// True if the op may join the segment of any target that can run it: layout, list and tuple ops, and ops with
  /// `inlay.neutral`.
  bool isNeutral : 1;
  bool isCheapToClone : 1;
  /// True if the op makes or changes a value that may not cross a border.
  bool makesNonTensor : 1;
  /// True if the op has `inlay.target`.
  bool isPinned : 1;
  /// True if the op has `inlay.do_not_merge`.
  bool isIsolated : 1;
};
PartitionOpInfo findFacts(mlir::Operation *op);

/// Returns true if nothing states which memory the op accesses. It may then access any memory, including that of
/// operands other than tensors and scalars.
bool mayAccessAnything(mlir::Operation *op);

/// Returns true if values of the type may enter and leave an accelerator: tensors, memrefs and scalars, but not lists,
/// tuples and objects.
bool mayCrossBorder(mlir::Type type);

/// Returns the size of a tensor or scalar in bytes, if it is known.
std::optional<int64_t> countBytes(mlir::Type type);

/// Returns the label of an op in reports, which is its name location. Requires that `inlay-partition-annotate-targets`
/// has run.
llvm::StringRef getLabel(mlir::Operation *op);
mlir::StringAttr getLabelAttr(mlir::Operation *op);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_OPKINDS_H
