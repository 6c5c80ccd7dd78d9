// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges the clones that segments needed to be closed: equal constants become one, and cloned ops become their
// originals again.

#ifndef INLAY_LIB_PARTITION_FORM_MERGECLONES_H
#define INLAY_LIB_PARTITION_FORM_MERGECLONES_H

#include "Partition/Analysis/DependencyGraph.h"

namespace inlay {

/// Merges equal constants in `root` into one each, in the innermost block around all of them. Does not enter ops that
/// are isolated from above.
void mergeConstants(mlir::Operation *root);

/// The handling of clones of a list that some op changes.
enum class ChangedClones { KeepSeparate, Merge };

/// Replaces each op of the block that is marked as a clone by an equal op of the block, preferably one with the same
/// location. Clones without such an op are merged into one. If clones of changed lists are merged, the block is in the
/// order of effects only after `restoreOrder`.
void mergeClones(mlir::Block &block, const Aliases &aliases, ChangedClones written);

/// Sorts the ops of the block so that definitions come before uses and `inlay.order` is ascending. Other ops keep their
/// order.
void restoreOrder(mlir::Block &block);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_MERGECLONES_H
