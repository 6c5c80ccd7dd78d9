// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch target.

#ifndef INLAY_TARGET_TORCH_TORCHTARGET_H
#define INLAY_TARGET_TORCH_TORCHTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Lets `#inlay.torch` answer as a target, and registers the dialects that it converts through.
void registerTorchTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_TORCH_TORCHTARGET_H
