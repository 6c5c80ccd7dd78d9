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

/// Returns the index along the dim that was split into the dims of `group`. Dims of size 1 add nothing to it.
static std::optional<AffineExpr> joinIndices(MemRefType type, ArrayRef<int64_t> group, ArrayRef<AffineExpr> indices) {
  AffineExpr joined;
  for (int64_t dim : group) {
    if (type.getDimSize(dim) == 1)
      continue;
    if (joined && type.isDynamicDim(dim))
      return std::nullopt;
    joined = joined ? joined * type.getDimSize(dim) + indices[dim] : indices[dim];
  }
  return joined ? joined : indices[group.front()];
}

std::optional<SmallVector<AffineExpr>> inlay::findRootIndices(Value view, ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> current(indices);
  Value root = findRoot(view);
  while (view != root) {
    auto expanded = view.getDefiningOp<memref::ExpandShapeOp>();
    if (!expanded)
      return std::nullopt;
    SmallVector<AffineExpr> collapsed;
    for (const ReassociationIndices &group : expanded.getReassociationIndices()) {
      std::optional<AffineExpr> joined = joinIndices(expanded.getResultType(), group, current);
      if (!joined)
        return std::nullopt;
      collapsed.push_back(*joined);
    }
    current = std::move(collapsed);
    view = expanded.getSrc();
  }
  return current;
}
