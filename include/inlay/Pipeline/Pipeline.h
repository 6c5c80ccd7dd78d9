// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases in order. Only this library knows it.

#ifndef INLAY_PIPELINE_PIPELINE_H
#define INLAY_PIPELINE_PIPELINE_H

#include "inlay/Pipeline/Options.h"

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace inlay {

/// Adds the passes of one phase, closed by its check.
void buildPhase(mlir::OpPassManager &pm, Phase phase, const Options &options);

/// Adds phases `options.from` to `options.to`, on a module.
void buildPipeline(mlir::OpPassManager &pm, const Options &options);

/// Runs phases `options.from` to `options.to` on `module`, one pass manager each, and writes the dumps that
/// `options.dumpDirectory` asks for. `started` is called as each phase starts, with its number and the count.
mlir::LogicalResult runPipeline(mlir::ModuleOp module, const Options &options,
                                std::function<void(Phase, unsigned, unsigned)> started = {});

} // namespace inlay

#endif // INLAY_PIPELINE_PIPELINE_H
