// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the Stitch phase.

#ifndef INLAY_STITCH_PASSES_H
#define INLAY_STITCH_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace inlay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "inlay/Stitch/Passes.h.inc"

} // namespace inlay

#endif // INLAY_STITCH_PASSES_H
