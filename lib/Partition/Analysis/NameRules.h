// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that the names in options match, and errors for names that match none.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_NAMERULES_H
#define INLAY_LIB_PARTITION_ANALYSIS_NAMERULES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace inlay {

/// Calls `visit` for each op of the functions of the module that partitioning places, including nested ones.
void forEachPlacedOp(mlir::ModuleOp module, llvm::function_ref<void(mlir::Operation *)> visit);

/// Returns true if one of `names` is a name of the op.
bool matchesAnyName(mlir::Operation *op, llvm::ArrayRef<std::string> names);

/// Emits an error for each name in `names`, the value of `option`, that matches no op in the module. The error suggests
/// the most similar name.
mlir::LogicalResult checkOpNames(mlir::ModuleOp module, llvm::ArrayRef<std::string> names, llvm::StringRef option);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_NAMERULES_H
