// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the buffers that a structured op reads and writes. Code that puts several ops into one kernel needs the list.

#ifndef INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H
#define INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace inlay {

/// One use of a buffer by an op.
struct BufferUse {
  /// The operand that the op uses, and the buffer that it is a view of. They are equal if it is no view.
  mlir::Value view, root;
  mlir::AffineMap map; ///< Map by which the op accesses the buffer. Null means that the op may access any element.
  bool writes;         ///< True if the op writes the buffer. It may read it too.
};

/// Returns the uses of buffers by `op`: its operands and the buffers from which its body loads.
llvm::SmallVector<BufferUse> listUses(mlir::linalg::LinalgOp op);

/// Returns the indices into the root of `view` of the element at `indices` of `view`. Returns nullopt if there is a
/// view that does more than split dims into dims of known sizes.
std::optional<llvm::SmallVector<mlir::AffineExpr>> findRootIndices(mlir::Value view,
                                                                   llvm::ArrayRef<mlir::AffineExpr> indices);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H
