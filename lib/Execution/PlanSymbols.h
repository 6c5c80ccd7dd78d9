// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of the IR, which are maps of symbols, as the runtime evaluates them: from the dims of inputs.

#ifndef INLAY_LIB_EXECUTION_PLANSYMBOLS_H
#define INLAY_LIB_EXECUTION_PLANSYMBOLS_H

#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay {

/// The program's symbols, each with the dim of an input that says its value: the first that is the symbol itself, else
/// the first that is a multiple of it plus a number. An error for one that no input says.
mlir::FailureOr<std::vector<rt::Symbol>> findSymbols(plan::ProgramOp program);

/// The results of `map`; an error at `op`, which has the map, unless all its symbols are among `symbols`.
mlir::FailureOr<std::vector<rt::Expr>> convertSizes(mlir::Operation *op, mlir::AffineMap map,
                                                    llvm::ArrayRef<rt::Symbol> symbols);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_PLANSYMBOLS_H
