// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the conversion whether it can convert an op, by converting a copy.

#ifndef INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H
#define INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H

#include "inlay/Support/Reason.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace inlay {

/// The first op at or in `root` that no target compiles: a framework's call or list, a plugin, a call of a function,
/// which is to be inlined before. Null if there is none.
mlir::Operation *findForeignOp(mlir::Operation *root);

/// Clones `op` (with its regions; what they capture become arguments too) into a module of its own as
/// `func.func @trial(operands...) -> results` and converts that to linalg. Supported, or the code and the sentence of
/// the pattern that refused. On success the module is handed out through `result`, if given, so that a target can try
/// its own stages on it. Leaves `op` alone and emits no diagnostics. The dialects of `registerGraphToLinalgDialects`
/// must be loaded.
Verdict tryConvertToLinalg(mlir::Operation *op, mlir::OwningOpRef<mlir::ModuleOp> *result = nullptr);

} // namespace inlay

#endif // INLAY_LIB_CONVERT_GRAPHTOLINALG_TRIALCONVERSION_H
