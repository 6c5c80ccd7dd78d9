// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a stitched module to a program that runs, for callers who run the phases themselves.

#ifndef INLAY_EXECUTION_LOAD_H
#define INLAY_EXECUTION_LOAD_H

#include "inlay/Runtime/Core/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace inlay {

struct LoadOptions {
  std::string device;                  ///< selector, if an engine needs one; empty for INLAY_DEVICE or the best device
  rt::CallbackHandler callbacks;       ///< needed if the program calls the framework
  rt::Runners runners;                 ///< needed for the foreign engines that name them
  std::shared_ptr<const void> weights; ///< of a module: keeps bytes alive that its resources refer to
};

/// A program with what it runs on. It needs neither the module nor its context any more.
struct LoadedProgram {
  std::shared_ptr<const rt::Plan> plan;
  std::shared_ptr<rt::Device> device; ///< null if no segment runs on one
  std::unique_ptr<rt::Program> program;
};

/// Loads the only `plan.program` of a module that `Phase::Stitch` left: links its host code into this process, opens a
/// device if an engine needs one, hands foreign engines to their runners. What is wrong with the module is also emitted
/// as a diagnostic.
rt::StatusOr<LoadedProgram> loadProgram(mlir::ModuleOp stitched, const LoadOptions &options = {});

/// The same for a plan, whoever made it. It is checked, and refused with words if it isn't sound.
rt::StatusOr<LoadedProgram> loadPlan(std::shared_ptr<const rt::Plan> plan, const LoadOptions &options = {});

} // namespace inlay

#endif // INLAY_EXECUTION_LOAD_H
