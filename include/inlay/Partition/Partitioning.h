// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points of the partition phase: segments from a graph, and what they are. `PartitionInfo` says how to partition,
// `SegmentedBlock` what came of it; `Report.h` has the whole report.

#ifndef INLAY_PARTITION_PARTITIONING_H
#define INLAY_PARTITION_PARTITIONING_H

#include "inlay/Partition/PartitionInfo.h"
#include "inlay/Partition/SegmentedBlock.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <vector>

namespace inlay {

/// Registers the inlay dialect, and what partitioning knows of upstream's ops: all that this library alone needs of a
/// context. Targets that convert are registered by themselves, or all together by `registerAll`.
void registerPartitionDialects(mlir::DialectRegistry &registry);

/// Adds the whole phase to a manager of passes on modules: verdicts, segments, the check of both, and the report if
/// one is wanted. Also `--inlay-partition`.
void buildPartitionPipeline(mlir::OpPassManager &manager, const PartitionInfo &info);

/// The two halves of that: the passes that change the module, and those that write files about it.
void buildPartitionPasses(mlir::OpPassManager &manager, const PartitionInfo &info);
void buildPartitionOutputs(mlir::OpPassManager &manager, const PartitionInfo &info);
/// Whether the second half has any passes.
bool writesFiles(const PartitionInfo &info);

/// The whole phase as one pass on a module.
std::unique_ptr<mlir::Pass> createPartitionPass(const PartitionInfo &info = {});

/// Partitions every function of `module` in place by its `inlay.targets`. On failure errors were reported at the ops
/// they are about, and the module may be left half-way.
mlir::LogicalResult partition(mlir::ModuleOp module, const PartitionInfo &info);

/// The segments of a partitioned function, in the order of the report; none if it isn't partitioned.
std::vector<SegmentedBlock> getSegmentedBlocks(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONING_H
