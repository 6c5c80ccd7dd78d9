// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making ops and moving uses where types aren't given but follow from the ops' definitions.

#ifndef INLAY_REWRITE_CREATEOP_H
#define INLAY_REWRITE_CREATEOP_H

#include "inlay/Rewrite/GraphRewriter.h"

namespace inlay {

/// Makes an op at the rewriter's insertion point and verifies it, without what is in its regions. Null, with the reason
/// in `why` and the graph as before, if its definition refuses it.
mlir::Operation *createOp(mlir::RewriterBase &rewriter, mlir::OperationState &state, std::string &why);

/// Moves those uses of `from` that `which` accepts (all, if null) to `to`, whose type may be another: the types of what
/// is computed from it are inferred anew, down to what the function returns. Refuses, by the rewriter, where one of the
/// users can't take the other type.
void moveUsesRetyped(GraphRewriter &rewriter, mlir::Value from, mlir::Value to,
                     llvm::function_ref<bool(mlir::OpOperand &)> which = nullptr);

} // namespace inlay

#endif // INLAY_REWRITE_CREATEOP_H
