// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules of one context that name their weights alike.

#ifndef INLAY_PYTHON_RESOURCES_H
#define INLAY_PYTHON_RESOURCES_H

#include "mlir/IR/BuiltinOps.h"

namespace inlay::python {

/// A context takes a key that another module has for a new resource, and renames it. Where nobody gave bytes, which is
/// so for weights that the text only names, this brings the keys of `text` back.
void keepResourceKeys(mlir::ModuleOp module, llvm::StringRef text);

} // namespace inlay::python

#endif // INLAY_PYTHON_RESOURCES_H
