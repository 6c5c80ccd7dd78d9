// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partition phase: its passes, and all of it as a pipeline.

#ifndef INLAY_PARTITION_PASSES_H
#define INLAY_PARTITION_PASSES_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace inlay {

#define GEN_PASS_DECL
#include "inlay/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "inlay/Partition/Passes.h.inc"

/// Verdicts, segments, the check of both, and the report if one is wanted. Runs on a module.
void buildPartitionPipeline(mlir::OpPassManager &manager, const PartitionOptions &options);

/// Registers the passes, and the pipeline as `inlay-partition`.
void registerPartitionPasses();

} // namespace inlay

#endif // INLAY_PARTITION_PASSES_H
