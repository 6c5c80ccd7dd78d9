// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs that must run on the first target alone. The errors list all ops that prevent this.
//
// With `require-full-compilation`, the usual decisions must place every op on the first target, in as many segments as
// control flow needs. With `enabled=false`, no other target is considered, and the graph is one segment.

#ifndef INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H
#define INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H

#include "Decisions.h"
#include "inlay/Partition/PartitionInfo.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Emits errors for settings that force ops away from a target that must run all of them.
mlir::LogicalResult checkFullCompilationSettings(mlir::ModuleOp module, const PartitionInfo &info);

/// Emits an error with every op of the annotated function that is not on the first target or that no target can run.
mlir::LogicalResult checkFullCompilation(mlir::FunctionOpInterface function, const TargetList &targets);

/// Gives the ops of the function verdicts for the first target, or emits an error with every op that cannot be in its
/// segment.
mlir::LogicalResult annotateFullCompilation(mlir::FunctionOpInterface function, TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H
