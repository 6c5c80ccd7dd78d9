// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes ops compute directly in a result buffer instead of in scratch memory that is then copied to it.

#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace inlay {
#define GEN_PASS_DEF_COMPUTEINPLACEPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns the allocation of which `memref` is a view of all elements, or null.
static memref::AllocOp findWholeAllocation(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(view))
      return nullptr;
    memref = view.getViewSource();
  }
  return memref.getDefiningOp<memref::AllocOp>();
}

/// Returns true if the allocation and `result` have the same number of elements and both are contiguous.
static bool fillsWhole(memref::AllocOp alloc, BlockArgument result, unsigned symbols) {
  auto type = cast<MemRefType>(result.getType());
  std::optional<SmallVector<AffineExpr>> from = getBufferDims(alloc), to = getBufferDims(result);
  return from && to && alloc.getType().getLayout().isIdentity() && type.getLayout().isIdentity() &&
         areEqual(countElements(*from, alloc.getContext()), countElements(*to, alloc.getContext()), symbols);
}

/// Returns a view of `result` with the dims of `alloc`, which has the same number of elements.
static Value reshapeLike(memref::AllocOp alloc, Value result) {
  OpBuilder builder(alloc);
  Location loc = alloc.getLoc();
  SmallVector<AffineExpr> dims = *getBufferDims(alloc);
  SmallVector<OpFoldResult> sizes, strides;
  AffineExpr stride = builder.getAffineConstantExpr(1);
  for (AffineExpr dim : llvm::reverse(dims)) {
    sizes.insert(sizes.begin(), materializeExpr(builder, loc, dim));
    strides.insert(strides.begin(), materializeExpr(builder, loc, stride));
    stride = stride * dim;
  }
  return memref::ReinterpretCastOp::create(builder, loc, alloc.getType(), result, builder.getIndexAttr(0), sizes,
                                           strides);
}

/// Replaces an allocation that is only copied to a result by that result. (Upstream's empty tensor elimination does
/// this too early: two results whose computations start from one fill would share a buffer.)
static void computeInPlace(func::FuncOp func) {
  unsigned symbols = getSymbols(func).size();
  for (auto copy : llvm::make_early_inc_range(func.getOps<memref::CopyOp>())) {
    auto result = dyn_cast<BlockArgument>(copy.getTarget());
    memref::AllocOp alloc = findWholeAllocation(copy.getSource());
    if (!result || !result.hasOneUse() || !alloc || alloc->getBlock() != copy->getBlock() ||
        !fillsWhole(alloc, result, symbols))
      continue;
    copy.erase();
    bool alike = result.getType() == alloc.getType() && *getBufferDims(alloc) == *getBufferDims(result);
    alloc.replaceAllUsesWith(alike ? Value(result) : reshapeLike(alloc, result));
    alloc.erase();
  }
}

namespace {
struct ComputeInPlacePass : inlay::impl::ComputeInPlacePassBase<ComputeInPlacePass> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      computeInPlace(getOperation());
  }
};
} // namespace
