// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a stitched module to a program that runs, for callers who run the phases themselves.

#ifndef INLAY_EXECUTION_LOAD_H
#define INLAY_EXECUTION_LOAD_H

#include "inlay/Runtime/Loader/Loader.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace inlay {

struct LoadOptions : rt::OpenOptions {
  std::shared_ptr<const void> weights; ///< keeps bytes alive that the caller attached to the module's resources
};

/// A program with what it runs on. It needs neither the module nor its context any more.
using LoadedProgram = rt::LoadedProgram;

/// Loads the only `plan.program` of a module that `Phase::Stitch` left, as `rt::loadPlan` does. What is wrong with the
/// module is also emitted as a diagnostic.
rt::StatusOr<LoadedProgram> loadProgram(mlir::ModuleOp stitched, const LoadOptions &options = {});

} // namespace inlay

#endif // INLAY_EXECUTION_LOAD_H
