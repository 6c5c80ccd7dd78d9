// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copies that segments need to be closed, undone: equal constants become one again, and copied ops their originals.

#ifndef INLAY_LIB_PARTITION_FORM_MERGECLONES_H
#define INLAY_LIB_PARTITION_FORM_MERGECLONES_H

#include "Partition/Analysis/DependencyGraph.h"

namespace inlay {

/// Keeps one of all equal constants in `root`, in the innermost block around all of them. Does not look into ops that
/// are isolated from what is around them.
void mergeConstants(mlir::Operation *root);

/// What becomes of copies of a list that somebody changes.
enum class ChangedClones { KeepSeparate, Merge };

/// Replaces each op of the block that is marked as a copy by an equal op of the block, by preference one of the same
/// location. Copies without such an op become one. After copies of changed lists were merged, the block is in the order
/// of effects only once `restoreOrder` was called.
void mergeClones(mlir::Block &block, const Aliases &aliases, ChangedClones written);

/// Sorts the ops of the block so that what is used is before its users, and `inlay.order` is ascending; otherwise they
/// stay in the order they are in.
void restoreOrder(mlir::Block &block);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_MERGECLONES_H
