// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets that generate code share: running stages on a segment in a module of its own, for real or as a trial.

#ifndef INLAY_CONVERT_SEGMENTCONVERSION_H
#define INLAY_CONVERT_SEGMENTCONVERSION_H

#include "inlay/Support/Reason.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace inlay {

/// A target's stages from linalg on tensors to its engines, on a module of one function.
using Stages = std::function<mlir::LogicalResult(mlir::ModuleOp)>;

/// Whether `op` can be converted: converts a copy to linalg and runs `stages` on that. The answer of the first stage
/// that refuses is the verdict; diagnostics don't reach the user.
Verdict tryConvert(mlir::Operation *op, const Stages &stages);

/// What a target does with ops of the graph itself.
using Preparation = std::function<void(mlir::func::FuncOp)>;

/// Moves a copy of `segment` to a module of its own, lets `prepare` have what ops of the graph it wants, converts the
/// rest to linalg and runs `stages`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> convertAlone(mlir::func::FuncOp segment, const Stages &stages,
                                                                const Preparation &prepare = nullptr);

} // namespace inlay

#endif // INLAY_CONVERT_SEGMENTCONVERSION_H
