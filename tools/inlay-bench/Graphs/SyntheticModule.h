// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Synthetic graphs as IR, and the targets for their partitioning.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H
#define TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H

#include "SyntheticGraph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace inlay::bench {

inline constexpr llvm::StringLiteral kAcceleratorName("npu");

/// Returns a module with one function, which has one framework call per node, with locations like those of Import, and
/// returns the values without users. The module declares an accelerator and a host. `context` must have all dialects
/// loaded.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(mlir::MLIRContext &context, const SyntheticGraph &graph);

/// Declares the accelerator and the host of synthetic graphs in another module. The accelerator runs all ops of the
/// module except the kinds that only the host runs in synthetic graphs. Returns the number of ops that partitioning
/// places.
int64_t declareTargets(mlir::ModuleOp module);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H
