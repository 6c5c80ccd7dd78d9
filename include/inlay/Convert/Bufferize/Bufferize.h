// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts linalg on tensors to linalg on buffers. All targets that generate code share this stage.

#ifndef INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H
#define INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace inlay {

/// Adds the passes that fuse elementwise chains, turn results into arguments and bufferize. They turn functions on
/// tensors into functions `(inputs, results) -> ()` on memrefs of identity layout. These functions may allocate
/// buffers. The pipeline runs on a module.
void buildBufferizePipeline(mlir::OpPassManager &pm);

/// Registers the external models of upstream ops that the pipeline needs.
void registerBufferizeDialects(mlir::DialectRegistry &registry);

/// Loads the dialects whose ops the pipeline and the loop emitters create.
void loadBufferizeDialects(mlir::MLIRContext &context);

/// Returns true if tensors of the runtime can have elements of `type`.
bool isRuntimeElement(mlir::Type type);

/// Returns the size of a static buffer in bytes; an i1 takes one byte. Emits an error with a reason code at `loc` and
/// fails if the runtime has no such element type or if the size overflows.
mlir::FailureOr<int64_t> getByteSize(mlir::Location loc, mlir::ShapedType type);

/// Returns the size in bytes of a buffer whose dims may be known only at a call. The constant factor of the size is at
/// least 1, even if a static dim is 0. Emits an error with a reason code at `loc` and fails like the overload above,
/// and also if a dim is not an expression of the function's symbols.
mlir::FailureOr<mlir::AffineExpr> getByteSize(mlir::Location loc, mlir::Value memref);

/// Replaces each memref.copy of the entry block by a linalg.copy, so that later stages see only structured ops.
void replaceCopies(mlir::func::FuncOp func);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H
