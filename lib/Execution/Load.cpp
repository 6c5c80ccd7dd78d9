// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the plan of a stitched module and loads it. Runtime/Loader/Loader.cpp loads plans and containers without
// MLIR.

#include "inlay/Execution/Load.h"
#include "PlanFromIR.h"

using namespace mlir;
using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

StatusOr<rt::LoadedProgram> inlay::loadProgram(ModuleOp stitched, const LoadOptions &options) {
  FailureOr<std::shared_ptr<rt::Plan>> plan = readPlan(stitched, options.weights);
  if (failed(plan))
    return Status(StatusCode::InvalidArgument, "the module's program can't be loaded: see its diagnostics");
  return rt::loadPlan(*plan, options);
}
