// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies refusals that conversion found back to the graph.

#ifndef INLAY_PIPELINE_REFUSEDOPS_H
#define INLAY_PIPELINE_REFUSEDOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace inlay {

/// Copies `inlay.refused` from the unconverted segments in `converted` to the ops of `graph` with the same function and
/// label. `converted` was partitioned from `graph`. Returns false if this adds nothing new.
bool copyRefusedMarks(mlir::ModuleOp converted, mlir::ModuleOp graph);

} // namespace inlay

#endif // INLAY_PIPELINE_REFUSEDOPS_H
