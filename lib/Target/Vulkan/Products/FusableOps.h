// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether ops may be computed by one kernel: which buffers they access, and how long their bodies are.

#ifndef INLAY_LIB_TARGET_VULKAN_PRODUCTS_FUSABLEOPS_H
#define INLAY_LIB_TARGET_VULKAN_PRODUCTS_FUSABLEOPS_H

#include "PackedOperand.h"

namespace inlay {

/// The ops of one kernel.
using KernelOps = llvm::SmallVector<mlir::linalg::LinalgOp, 3>;

/// Returns the locations of all ops.
mlir::Location fuseLocs(llvm::ArrayRef<mlir::linalg::LinalgOp> ops);

/// Returns true if `op` writes a buffer that is an input of `other`. The buffers that `other` writes are no inputs,
/// even if it reads them too.
bool writesInputs(mlir::linalg::LinalgOp op, mlir::linalg::LinalgOp other);

/// Returns true if both ops read the same buffer. Accesses of a kernel must see a buffer as vectors, or none, but an
/// emitter knows only those of its own op.
bool shareInputs(mlir::linalg::LinalgOp op, mlir::linalg::LinalgOp other);

/// Returns true if `op` accesses codes, scales or offsets of `packed`, which may be null.
bool accessesPacked(mlir::linalg::LinalgOp op, const PackedOperand *packed);

/// Returns true if a kernel of these ops needs at most `maxBuffers` buffers. `packed` may be null.
bool fitsBuffers(llvm::ArrayRef<mlir::linalg::LinalgOp> ops, const PackedOperand *packed, int64_t maxBuffers);

/// Returns true if `op` may run right before `later`, an op after it in the same block: it neither depends on the ops
/// in between nor do they depend on it. Returns false if there are many.
bool canDelay(mlir::linalg::LinalgOp op, mlir::Operation *later);

/// Returns the number of instructions of the body of an elementwise op, roughly. Functions such as `exp` count as many.
int64_t countBodySteps(mlir::linalg::LinalgOp op);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_PRODUCTS_FUSABLEOPS_H
