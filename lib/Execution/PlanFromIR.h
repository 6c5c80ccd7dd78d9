// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the plan dialect to the runtime's plan.

#ifndef INLAY_LIB_EXECUTION_PLANFROMIR_H
#define INLAY_LIB_EXECUTION_PLANFROMIR_H

#include "inlay/Runtime/Core/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace inlay {

/// Reads the only program of `module`. A constant that names a resource refers to its data, which `owner` keeps alive;
/// other constants are copied. Emits diagnostics on failure.
mlir::FailureOr<std::shared_ptr<rt::Plan>> readPlan(mlir::ModuleOp module, std::shared_ptr<const void> owner);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_PLANFROMIR_H
