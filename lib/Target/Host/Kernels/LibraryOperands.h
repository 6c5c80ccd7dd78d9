// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a library kernel: flat buffers, and the sizes that `HostKernel` of the runtime's plan lists.

#ifndef INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H
#define INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H

#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

namespace inlay {

struct LibraryOperands {
  llvm::SmallVector<LinearBuffer> buffers;
  llvm::SmallVector<mlir::AffineExpr> sizes; ///< Expressions of the function's symbols.
};

/// Reads `op`, which must be on buffers. Emits flat buffers at the builder's position. Fails with a diagnostic if the
/// sizes are not expressions of the function's symbols or do not match each other.
mlir::FailureOr<LibraryOperands> listLibraryOperands(mlir::OpBuilder &builder, plan::LibraryCallOp op);

/// Replaces operands of convolutions and quantized products in `func` that are not contiguous by contiguous copies, and
/// copies results back. Emits an error if the size of a copy does not follow from the dims of inputs.
mlir::LogicalResult completeLibraryCalls(mlir::func::FuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H
