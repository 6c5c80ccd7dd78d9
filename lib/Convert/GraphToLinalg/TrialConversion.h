// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a copy of an op to find out if the conversion supports the op.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace inlay {

/// Returns the first op, `root` or nested in it, that no target compiles: a framework call, a list op, a plugin, or a
/// function call, which must be inlined before. Returns null if there is none.
mlir::Operation *findForeignOp(mlir::Operation *root);

/// Returns why no target compiles `foreign`, the result of `findForeignOp`.
std::string explainForeignOp(mlir::Operation *foreign);

/// Clones `op` with its regions into a new module as `func.func @trial(operands...) -> results` and converts the module
/// to linalg. Values that the regions capture become arguments too. Returns a supported verdict, or the reason code and
/// message of the refusing pattern. On success, moves the module into `result` unless it is null, so that a target can
/// try its stages on it. Does not change `op` and emits no diagnostics. The dialects of `registerGraphToLinalgDialects`
/// must be loaded.
Verdict tryConvertToLinalg(mlir::Operation *op, mlir::OwningOpRef<mlir::ModuleOp> *result = nullptr);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H
