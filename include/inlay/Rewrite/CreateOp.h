// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates ops with inferred result types and moves uses between values of different types.

#ifndef INLAY_REWRITE_CREATEOP_H
#define INLAY_REWRITE_CREATEOP_H

#include "inlay/Rewrite/GraphRewriter.h"

namespace inlay {

/// Creates an op at the rewriter's insertion point and verifies it without the ops in its regions. If the op is
/// invalid, returns null, sets `why` to the reason and leaves the graph unchanged.
mlir::Operation *createOp(mlir::RewriterBase &rewriter, mlir::OperationState &state, std::string &why);

/// Moves the uses of `from` that `which` accepts (all uses if `which` is null) to `to`. The two types may differ: the
/// result types of all transitive users are inferred anew, up to the result types of the function. Refuses the rewrite
/// through `rewriter` if a user does not accept the new type.
void moveUsesRetyped(GraphRewriter &rewriter, mlir::Value from, mlir::Value to,
                     llvm::function_ref<bool(mlir::OpOperand &)> which = nullptr);

} // namespace inlay

#endif // INLAY_REWRITE_CREATEOP_H
