// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the Shape phase.

#ifndef INLAY_SHAPE_PASSES_H
#define INLAY_SHAPE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace inlay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "inlay/Shape/Passes.h.inc"

/// Adds the phase to a pipeline on modules: type inference, then the final check of the phase.
void buildShapePipeline(mlir::OpPassManager &passes);

} // namespace inlay

#endif // INLAY_SHAPE_PASSES_H
