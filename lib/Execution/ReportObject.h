// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A partition report as JSON, to add to.

#ifndef INLAY_LIB_EXECUTION_REPORTOBJECT_H
#define INLAY_LIB_EXECUTION_REPORTOBJECT_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/JSON.h"

namespace inlay {

/// The report on one function: an object with the array `segments` and the object `summary`, else an error.
rt::StatusOr<llvm::json::Object> parseReport(const std::string &report);

/// As text, as the partition phase writes it.
std::string formatReport(llvm::json::Object report);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_REPORTOBJECT_H
