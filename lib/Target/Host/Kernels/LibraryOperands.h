// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a library kernel is passed: flat buffers and the sizes that `HostKernel` of the runtime's plan lists.

#ifndef INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H
#define INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H

#include "inlay/Convert/LoopNest/TileEmitter.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

namespace inlay {

struct LibraryOperands {
  llvm::SmallVector<LinearBuffer> buffers;
  llvm::SmallVector<mlir::AffineExpr> sizes; ///< of the function's symbols
};

/// Reads `op`, on buffers; flat buffers are emitted at the builder's position. Failure, with a diagnostic, if its sizes
/// don't follow from those of inputs or don't fit each other.
mlir::FailureOr<LibraryOperands> listLibraryOperands(mlir::OpBuilder &builder, plan::LibraryCallOp op);

/// Gives each convolution in `func` whose operands have gaps copies without.
mlir::LogicalResult completeLibraryCalls(mlir::func::FuncOp func);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_KERNELS_LIBRARYOPERANDS_H
