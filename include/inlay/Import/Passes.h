// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the Import phase.

#ifndef INLAY_IMPORT_PASSES_H
#define INLAY_IMPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace inlay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "inlay/Import/Passes.h.inc"

} // namespace inlay

#endif // INLAY_IMPORT_PASSES_H
