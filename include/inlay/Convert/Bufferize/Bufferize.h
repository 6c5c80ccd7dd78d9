// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From linalg on tensors to linalg on buffers; shared by all targets that generate code.

#ifndef INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H
#define INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace inlay {

/// Fuses elementwise chains, passes destinations and bufferizes: functions on tensors become functions
/// `(inputs, results) -> ()` on memrefs of identity layout, with allocations. Runs on a module.
void buildBufferizePipeline(mlir::OpPassManager &pm);

/// Registers the models by which upstream ops bufferize.
void registerBufferizeDialects(mlir::DialectRegistry &registry);

/// Loads the dialects that the pipeline and the loop emitters create ops of.
void loadBufferizeDialects(mlir::MLIRContext &context);

/// True for the element types that tensors of the runtime can have.
bool isRuntimeElement(mlir::Type type);

/// Bytes of a static buffer, one per i1. Emits an error at `loc`, with a reason code, if the element type has no width
/// in memory that is known here or the size doesn't fit.
mlir::FailureOr<int64_t> getByteSize(mlir::Location loc, mlir::ShapedType type);

/// The same of a buffer whose dims may be known at a call alone; at least 1, unless it is so known.
mlir::FailureOr<mlir::AffineExpr> getByteSize(mlir::Location loc, mlir::Value memref);

/// Makes each memref.copy of the entry block a structured op like the others.
void replaceCopies(mlir::func::FuncOp func);

} // namespace inlay

#endif // INLAY_CONVERT_BUFFERIZE_BUFFERIZE_H
