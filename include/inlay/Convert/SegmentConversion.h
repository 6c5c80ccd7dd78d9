// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the conversion of a segment in a separate module, as a trial or for its result. All targets that generate code
// share it.

#ifndef INLAY_CONVERT_SEGMENTCONVERSION_H
#define INLAY_CONVERT_SEGMENTCONVERSION_H

#include "inlay/Support/Reason.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace inlay {

/// The stages of a target from linalg on tensors to engines. They run on a module of one function.
using Stages = std::function<mlir::LogicalResult(mlir::ModuleOp)>;

/// Finds out if `op` can be converted: converts a copy to linalg and runs `stages` on it. If a stage refuses the copy,
/// the verdict holds its reason. Diagnostics do not reach the user.
Verdict tryConvert(mlir::Operation *op, const Stages &stages);

/// The step that handles graph ops before they are converted to linalg.
using Preparation = std::function<void(mlir::func::FuncOp)>;

/// Copies `segment` into a new module, runs `prepare` on the copy, which may replace graph ops, converts the remaining
/// graph ops to linalg, and runs `stages`. Returns the module.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> convertAlone(mlir::func::FuncOp segment, const Stages &stages,
                                                                const Preparation &prepare = nullptr);

} // namespace inlay

#endif // INLAY_CONVERT_SEGMENTCONVERSION_H
