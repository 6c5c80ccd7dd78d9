// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a stitched module as a program, for callers that run the phases themselves.

#ifndef INLAY_EXECUTION_LOAD_H
#define INLAY_EXECUTION_LOAD_H

#include "inlay/Runtime/Loader/Loader.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace inlay {

struct LoadOptions : rt::OpenOptions {
  std::shared_ptr<const void> weights; ///< Keeps data alive that the caller attached to the module's resources.
};

/// Loads the only `plan.program` of a module that `Phase::Stitch` produced, like `rt::loadPlan`. The program needs
/// neither the module nor its context any more. Errors in the module are also emitted as diagnostics.
rt::StatusOr<rt::LoadedProgram> loadProgram(mlir::ModuleOp stitched, const LoadOptions &options = {});

} // namespace inlay

#endif // INLAY_EXECUTION_LOAD_H
