// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host target.

#ifndef INLAY_TARGET_HOST_HOSTTARGET_H
#define INLAY_TARGET_HOST_HOSTTARGET_H

#include "mlir/IR/DialectRegistry.h"

namespace inlay {

/// Lets `#inlay.host` answer as a target, and registers the dialects that it converts through.
void registerHostTarget(mlir::DialectRegistry &registry);

} // namespace inlay

#endif // INLAY_TARGET_HOST_HOSTTARGET_H
