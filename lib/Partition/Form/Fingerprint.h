// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fingerprints of graphs. They do not depend on the order in which a graph is written, or on whether it is partitioned.
// They show whether a placement belongs to a graph.

#ifndef INLAY_LIB_PARTITION_FORM_FINGERPRINT_H
#define INLAY_LIB_PARTITION_FORM_FINGERPRINT_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace inlay {

struct GraphFingerprint {
  std::string whole;                  ///< Of all ops, the type of the function and its results.
  llvm::StringMap<std::string> ops;   ///< By label: of the name, attributes, types and the makers of operands.
  llvm::StringMap<std::string> names; ///< By label: the name of the op in reports.
};

/// Returns the fingerprint of a function whose ops have labels. Constants only count by their type. Attributes that
/// partitioning reads or writes do not count.
GraphFingerprint makeFingerprint(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_FORM_FINGERPRINT_H
