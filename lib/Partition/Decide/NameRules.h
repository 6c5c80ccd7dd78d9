// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that name ops: which ops they may mean, and what to say if they mean none.

#ifndef INLAY_LIB_PARTITION_DECIDE_NAMERULES_H
#define INLAY_LIB_PARTITION_DECIDE_NAMERULES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace inlay {

/// Calls `visit` for each op of the module's functions that partitioning places, nested ones included.
void forEachPlacedOp(mlir::ModuleOp module, llvm::function_ref<void(mlir::Operation *)> visit);

/// True if one of `names` is a name of the op.
bool matchesAnyName(mlir::Operation *op, llvm::ArrayRef<std::string> names);

/// Reports each of `names`, the value of `option`, that is a name of no op in the module, with the nearest that is one.
mlir::LogicalResult checkOpNames(mlir::ModuleOp module, llvm::ArrayRef<std::string> names, llvm::StringRef option);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_NAMERULES_H
