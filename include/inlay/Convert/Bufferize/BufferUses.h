// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a structured op on buffers does with them: whoever puts several ops into one kernel asks.

#ifndef INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H
#define INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace inlay {

/// What an op does with a buffer.
struct BufferUse {
  mlir::Value view, root;
  mlir::AffineMap map; ///< null: it may touch any element
  bool writes;
};

/// What `op`, on buffers, does with its operands and with what its body loads from.
llvm::SmallVector<BufferUse> listUses(mlir::linalg::LinalgOp op);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_BUFFERUSES_H
