// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the partition phase.

#ifndef INLAY_PARTITION_PASSES_H
#define INLAY_PARTITION_PASSES_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/PartitionInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace inlay {

#define GEN_PASS_DECL
#include "inlay/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "inlay/Partition/Passes.h.inc"

/// These functions create a pass and set its options to the values in `info`.
std::unique_ptr<mlir::Pass> createAnnotateTargetsPass(const PartitionInfo &info);
std::unique_ptr<mlir::Pass> createFormSegmentsPass(const PartitionInfo &info);
std::unique_ptr<mlir::Pass> createPartitionVerifyPass(const PartitionInfo &info);

/// Registers the passes and the pipeline `inlay-partition`.
void registerPartitionPasses();

} // namespace inlay

#endif // INLAY_PARTITION_PASSES_H
