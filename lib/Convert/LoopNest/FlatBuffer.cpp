// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace inlay;

FailureOr<FlatBuffer> inlay::flattenBuffer(OpBuilder &builder, Location loc, Value memref, FlatRoots &roots) {
  FlatBuffer flat;
  auto type = cast<MemRefType>(memref.getType());
  if (failed(type.getStridesAndOffset(flat.strides, flat.offset)) || ShapedType::isDynamic(flat.offset) ||
      llvm::any_of(flat.strides, ShapedType::isDynamic))
    return failure();
  // A view's type says where it lies relative to the root, so the root is all that is needed of the chain.
  Value root = memref;
  while (auto view = root.getDefiningOp<ViewLikeOpInterface>())
    root = view.getViewSource();
  auto rootType = cast<MemRefType>(root.getType());
  if (!rootType.hasStaticShape() || !rootType.getLayout().isIdentity())
    return failure();
  Value &known = roots[root];
  if (!known && rootType.getRank() == 1) {
    known = root;
  } else if (!known && rootType.getRank() == 0) {
    auto one = MemRefType::get({1}, rootType.getElementType());
    known = memref::ExpandShapeOp::create(builder, loc, one, root, ArrayRef<ReassociationIndices>());
  } else if (!known) {
    ReassociationIndices all(llvm::to_vector(llvm::seq<int64_t>(rootType.getRank())));
    known = memref::CollapseShapeOp::create(builder, loc, root, ArrayRef<ReassociationIndices>(all));
  }
  flat.memref = known;
  return flat;
}

/// The fill that gives `op`'s only output its value just before, or null.
static linalg::FillOp findInitialFill(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  // Through another view of the buffer others might touch the same elements.
  Value output = op.getDpsInits().front();
  // The reduction must write all that was filled, and read it as its start alone.
  if (!op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation() ||
      llvm::is_contained(op.getDpsInputs(), output))
    return nullptr;
  for (Value buffer = output; auto view = buffer.getDefiningOp<ViewLikeOpInterface>(); buffer = view.getViewSource())
    if (!view.getViewSource().hasOneUse())
      return nullptr;
  Operation *last = nullptr; // the last user before `op`
  for (Operation *user : output.getUsers()) {
    if (user->getBlock() != op->getBlock() || (isa<ViewLikeOpInterface>(user) && user->isBeforeInBlock(op)))
      return nullptr;
    if (user->isBeforeInBlock(op) && (!last || last->isBeforeInBlock(user)))
      last = user;
  }
  return dyn_cast_or_null<linalg::FillOp>(last);
}

InitialValues inlay::prepareLinalgOps(func::FuncOp func) {
  InitialValues values;
  // What has no elements to write, or was left by fusion without a result, but kept for the calls in its body: library
  // functions without effects.
  auto isEmpty = [](Value buffer) { return llvm::is_contained(cast<ShapedType>(buffer.getType()).getShape(), 0); };
  for (auto op : llvm::make_early_inc_range(func.getOps<linalg::LinalgOp>()))
    if (llvm::all_of(op.getDpsInits(), isEmpty))
      op.erase();
  for (auto op : func.getOps<linalg::LinalgOp>())
    if (linalg::FillOp fill = findInitialFill(op)) {
      values[op] = fill.value();
      fill.erase();
    }
  return values;
}
