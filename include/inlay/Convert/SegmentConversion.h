// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts an op (as a trial) or a segment in a separate module. All targets that generate code share these functions.

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

/// Returns a verdict that states if `op` can be converted. Converts a copy of the op to linalg and runs `stages` on it.
/// If a pattern or a stage refuses the copy, the verdict contains the reason. Diagnostics of this thread do not reach
/// the user.
Verdict tryConvert(mlir::Operation *op, const Stages &stages);

/// A step of a target that may replace graph ops before the remaining ones are converted to linalg.
using Preparation = std::function<void(mlir::func::FuncOp)>;

/// Copies `segment` into a new module, runs `prepare` on the copy unless it is null, converts the remaining graph ops
/// to linalg, and runs `stages`. Returns the new module. Emits an error if one of these steps fails. `segment` does not
/// change.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> convertAlone(mlir::func::FuncOp segment, const Stages &stages,
                                                                const Preparation &prepare = nullptr);

} // namespace inlay

#endif // INLAY_CONVERT_SEGMENTCONVERSION_H
