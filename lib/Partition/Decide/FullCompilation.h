// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that must run on the first target alone: what keeps it from that, all of it at once.
//
// `require-full-compilation` decides as ever and then wants every op on the first target, in as many segments as
// control flow needs. Without `enabled` no other target is asked: the graph is one segment.

#ifndef INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H
#define INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H

#include "Decisions.h"
#include "inlay/Partition/PartitionInfo.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Reports settings that force ops away from a target that must run all of them.
mlir::LogicalResult checkFullCompilationSettings(mlir::ModuleOp module, const PartitionInfo &info);

/// Reports every op of the annotated function that is not on the first target, or that no target can run.
mlir::LogicalResult checkFullCompilation(mlir::FunctionOpInterface function, const TargetList &targets);

/// Gives the ops of the function verdicts for the first target, or reports every op that can't be in its one segment.
mlir::LogicalResult annotateFullCompilation(mlir::FunctionOpInterface function, TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_FULLCOMPILATION_H
