// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch target.

#ifndef INLAY_TARGET_TORCH_TORCHTARGET_H
#define INLAY_TARGET_TORCH_TORCHTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Attaches the target interface to `#inlay.torch` and registers the dialects that the conversion uses.
void registerTorchTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_TORCH_TORCHTARGET_H
