// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the resource keys of modules that share a context and name their weights alike.

#ifndef INLAY_PYTHON_RESOURCES_H
#define INLAY_PYTHON_RESOURCES_H

#include "mlir/IR/BuiltinOps.h"

namespace inlay::python {

/// Restores the keys of `text` in `module`. If a key is already in use by another module, the context takes it for a
/// new resource and renames it. Weights that the text only names have no data yet, so their keys can be restored.
void keepResourceKeys(mlir::ModuleOp module, llvm::StringRef text);

} // namespace inlay::python

#endif // INLAY_PYTHON_RESOURCES_H
