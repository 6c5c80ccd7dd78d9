// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts sizes, which are maps of symbols, to the runtime's expressions of input dims.

#ifndef INLAY_LIB_EXECUTION_PLANSYMBOLS_H
#define INLAY_LIB_EXECUTION_PLANSYMBOLS_H

#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay {

/// Returns the symbols of the program, each with the dim of an input that determines its value. This is the first dim
/// that is the symbol itself, else the first that is a multiple of it plus a constant. A symbol without such a dim is
/// an error.
mlir::FailureOr<std::vector<rt::Symbol>> findSymbols(plan::ProgramOp program);

/// Returns the conditions of the program on its symbols.
std::vector<rt::Condition> convertConditions(plan::ProgramOp program, llvm::ArrayRef<rt::Symbol> symbols);

/// Converts the results of `map`. Reports an error at `op`, which has the map, if the map uses more symbols than
/// `symbols` has.
mlir::FailureOr<std::vector<rt::Expr>> convertSizes(mlir::Operation *op, mlir::AffineMap map,
                                                    llvm::ArrayRef<rt::Symbol> symbols);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_PLANSYMBOLS_H
