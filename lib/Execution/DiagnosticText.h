// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats compiler diagnostics as text for users.

#ifndef INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H
#define INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace inlay {

/// Returns `file:line:column (name): error: message`, without the parts that the location lacks, and one such line per
/// note.
std::string formatDiagnostic(mlir::Diagnostic &diagnostic);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H
