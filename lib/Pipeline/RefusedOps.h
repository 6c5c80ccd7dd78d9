// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What conversion found out about targets, brought back to the graph.

#ifndef INLAY_PIPELINE_REFUSEDOPS_H
#define INLAY_PIPELINE_REFUSEDOPS_H

#include "mlir/IR/BuiltinOps.h"

namespace inlay {

/// Copies `inlay.refused` from the segments that `converted` has left to the ops of the same function and label in
/// `graph`, which was partitioned into them. False if that says nothing new.
bool copyRefusedMarks(mlir::ModuleOp converted, mlir::ModuleOp graph);

} // namespace inlay

#endif // INLAY_PIPELINE_REFUSEDOPS_H
