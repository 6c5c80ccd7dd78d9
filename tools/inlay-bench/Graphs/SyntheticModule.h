// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A synthetic graph as IR, and the targets that it is partitioned for.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H
#define TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H

#include "SyntheticGraph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace inlay::bench {

inline constexpr llvm::StringLiteral kAcceleratorName("npu");

/// A function of one framework call per node, named as Import names ops, which returns what nobody reads; its module
/// declares an accelerator and the host. The context has all dialects loaded.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(mlir::MLIRContext &context, const SyntheticGraph &graph);

/// Gives a module from elsewhere the accelerator and the host of synthetic ones: the accelerator runs all its ops but
/// those of the kinds that stay on the host there. Returns how many ops partitioning places.
int64_t declareTargets(mlir::ModuleOp module);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_SYNTHETICMODULE_H
