// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attribute that explains a framework call.

#ifndef INLAY_DIALECT_INLAY_IR_CALLREASON_H
#define INLAY_DIALECT_INLAY_IR_CALLREASON_H

#include "llvm/ADT/StringRef.h"

namespace inlay {

/// On an `inlay.opaque`: a sentence that says why the call has no graph op. Verdicts contain it.
inline constexpr llvm::StringLiteral kCallReasonAttr = "inlay.reason";

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_CALLREASON_H
