// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H
#define INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H

#include "mlir/IR/OperationSupport.h"

#include <optional>

namespace inlay {

/// Sets the result types that the op's definition infers, or none if it infers none. Reports invalid operands and
/// attributes at `loc` if it is given.
llvm::LogicalResult inferTypes(mlir::OperationState &state, std::optional<mlir::Location> loc);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_GRAPH_INFERTYPES_H
