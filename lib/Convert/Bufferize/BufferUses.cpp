// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the root buffers that one structured op reads and writes. Partition/Analysis/Aliases.cpp answers such
// questions for graphs on tensors.

#include "inlay/Convert/Bufferize/BufferUses.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace inlay;

SmallVector<BufferUse> inlay::listUses(linalg::LinalgOp op) {
  SmallVector<BufferUse> uses;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      uses.push_back(
          {operand.get(), findRoot(operand.get()), op.getMatchingIndexingMap(&operand), op.isDpsInit(&operand)});
  op->walk([&](memref::LoadOp gather) {
    uses.push_back({gather.getMemRef(), findRoot(gather.getMemRef()), AffineMap(), false});
  });
  return uses;
}
