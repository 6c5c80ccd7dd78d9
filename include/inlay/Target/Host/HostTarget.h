// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host target.

#ifndef INLAY_TARGET_HOST_HOSTTARGET_H
#define INLAY_TARGET_HOST_HOSTTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Attaches the target interface to `#inlay.host` and registers the dialects that the conversion uses.
void registerHostTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_HOST_HOSTTARGET_H
