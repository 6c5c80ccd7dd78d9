// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copies that segments need to be closed, undone: equal constants become one again, and copied ops their originals.

#ifndef INLAY_PARTITION_COPIES_H
#define INLAY_PARTITION_COPIES_H

#include "inlay/Partition/DependencyGraph.h"

namespace inlay {

/// Keeps one of all equal constants in `root`, in the innermost block around all of them. Does not look into ops that
/// are isolated from what is around them.
void mergeConstants(mlir::Operation *root);

/// Replaces each op of the block that is marked as a copy by an equal op of the block, by preference one of the same
/// location. What somebody writes stays apart. Copies without such an op become one.
void mergeClones(mlir::Block &block, const Aliases &aliases);

} // namespace inlay

#endif // INLAY_PARTITION_COPIES_H
