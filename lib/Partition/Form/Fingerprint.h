// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a graph is, whatever order it is written in and whether it is partitioned or not: so that a placement is known
// to be for this graph or for another.

#ifndef INLAY_LIB_PARTITION_FORM_FINGERPRINT_H
#define INLAY_LIB_PARTITION_FORM_FINGERPRINT_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace inlay {

struct GraphFingerprint {
  std::string whole;                  ///< of all ops, of the function's type and of what it returns
  llvm::StringMap<std::string> ops;   ///< by label: name, attributes, types and what makes the operands
  llvm::StringMap<std::string> names; ///< by label: the op's reported name
};

/// The fingerprint of a function whose ops have labels. Constants count by their type alone, and attributes that
/// partitioning reads or writes don't count.
GraphFingerprint makeFingerprint(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_FINGERPRINT_H
