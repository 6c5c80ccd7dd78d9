// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration functions that an embedder calls first.

#ifndef INLAY_PIPELINE_INITALL_H
#define INLAY_PIPELINE_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Registers Inlay's dialects and targets, and the MLIR dialects and models that the targets convert through.
void registerAll(mlir::DialectRegistry &registry);

/// Registers Inlay's passes and pipelines for textual pass pipelines.
void registerAllPasses();

} // namespace inlay

#endif // INLAY_PIPELINE_INITALL_H
