// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiler diagnostics as lines for people.

#ifndef INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H
#define INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace inlay {

/// `file:line:column (name): error: message`, without what the location lacks, and a line like it per note.
std::string formatDiagnostic(mlir::Diagnostic &diagnostic);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_DIAGNOSTICTEXT_H
