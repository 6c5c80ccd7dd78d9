// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infers the result types of an op before it is created.

#ifndef INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H
#define INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H

#include "mlir/IR/OperationSupport.h"

#include <optional>

namespace inlay {

/// Adds the result types that the op's definition infers to `state`. Adds none and succeeds if the op has no type
/// inference. Fails if operands or attributes are invalid, with an error at `loc` if it is given.
llvm::LogicalResult inferTypes(mlir::OperationState &state, std::optional<mlir::Location> loc);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H
