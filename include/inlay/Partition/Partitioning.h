// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of the partition phase, which forms segments from a graph. `PartitionInfo` has the settings, and
// `SegmentedBlock` is the result. `Report.h` has the whole report.

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

/// Registers the inlay dialect and the external models of partitioning for upstream ops. This library needs nothing
/// else in a context. Targets that convert are registered separately, or all together by `registerAll`.
void registerPartitionDialects(mlir::DialectRegistry &registry);

/// Adds the whole phase to a pass manager for modules: verdicts, segments, their verification, and the report if it is
/// wanted. It is also the pipeline `--inlay-partition`.
void buildPartitionPipeline(mlir::OpPassManager &manager, const PartitionInfo &info);

/// These functions add the two halves of the phase: the passes that change the module, and the passes that write files
/// about it.
void buildPartitionPasses(mlir::OpPassManager &manager, const PartitionInfo &info);
void buildPartitionOutputs(mlir::OpPassManager &manager, const PartitionInfo &info);
/// Returns true if the second half has any passes.
bool writesFiles(const PartitionInfo &info);

/// Returns the whole phase as one pass on a module.
std::unique_ptr<mlir::Pass> createPartitionPass(const PartitionInfo &info = {});

/// Partitions every function of `module` in place for its `inlay.targets`. On failure, errors were emitted at the ops
/// that they concern, and the module may be partly changed.
mlir::LogicalResult partition(mlir::ModuleOp module, const PartitionInfo &info);

/// Returns the segments of a partitioned function in the order of the report, or none if it is not partitioned.
std::vector<SegmentedBlock> getSegmentedBlocks(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_PARTITION_PARTITIONING_H
