// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flattens buffers: composes a chain of views into one position in a flat root buffer, and replaces initial fills of
// outputs by initial values. inlay/Convert/LoopNest/TileEmitter.h declares the functions.

#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The position of a view's elements in its root.
struct Layout {
  SmallVector<AffineExpr> dims, strides;
  AffineExpr offset;
};
} // namespace

/// Returns the layout of a whole contiguous buffer.
static Layout makeContiguous(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  Layout layout{llvm::to_vector(dims), {}, getAffineConstantExpr(0, context)};
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (AffineExpr dim : llvm::reverse(dims)) {
    layout.strides.insert(layout.strides.begin(), stride);
    stride = stride * dim;
  }
  return layout;
}

static std::optional<Layout> readLayout(Value memref);

static std::optional<Layout> readExpanded(memref::ExpandShapeOp expand, ArrayRef<AffineExpr> dims) {
  std::optional<Layout> from = readLayout(expand.getSrc());
  if (!from)
    return std::nullopt;
  Layout layout{llvm::to_vector(dims), SmallVector<AffineExpr>(dims.size()), from->offset};
  for (auto [group, stride] : llvm::zip_equal(expand.getReassociationIndices(), from->strides)) {
    AffineExpr next = stride;
    for (int64_t dim : llvm::reverse(group)) {
      layout.strides[dim] = next;
      next = next * dims[dim];
    }
  }
  // A buffer without dims may be expanded to any number of dims of size 1.
  for (AffineExpr &stride : layout.strides)
    if (!stride)
      stride = getAffineConstantExpr(1, expand.getContext());
  return layout;
}

static std::optional<Layout> readCollapsed(memref::CollapseShapeOp collapse, ArrayRef<AffineExpr> dims) {
  std::optional<Layout> from = readLayout(collapse.getSrc());
  if (!from)
    return std::nullopt;
  Layout layout{llvm::to_vector(dims), {}, from->offset};
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    // The last dim of the group with more than one element determines the stride.
    AffineExpr stride = from->strides[group.back()], one = getAffineConstantExpr(1, collapse.getContext());
    for (int64_t dim : llvm::reverse(group))
      if (from->dims[dim] != one) {
        stride = from->strides[dim];
        break;
      }
    layout.strides.push_back(stride);
  }
  return layout;
}

static std::optional<Layout> readSliced(memref::SubViewOp view, ArrayRef<AffineExpr> dims) {
  std::optional<Layout> from = readLayout(view.getSource());
  if (!from)
    return std::nullopt;
  Layout layout{llvm::to_vector(dims), {}, from->offset};
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (auto [number, offset, step] : llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides())) {
    AffineExpr first = readExpr(offset), distance = readExpr(step);
    if (!first || !distance)
      return std::nullopt;
    layout.offset = layout.offset + first * from->strides[number];
    if (!dropped.test(number))
      layout.strides.push_back(from->strides[number] * distance);
  }
  return layout;
}

/// Returns the layout of `memref` in the root of its chain of views, or nullopt if the root is not contiguous or a view
/// is unknown.
static std::optional<Layout> readLayout(Value memref) {
  std::optional<SmallVector<AffineExpr>> dims = getBufferDims(memref);
  if (!dims)
    return std::nullopt;
  if (!memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (!cast<MemRefType>(memref.getType()).getLayout().isIdentity())
      return std::nullopt;
    return makeContiguous(*dims, memref.getContext());
  }
  return llvm::TypeSwitch<Operation *, std::optional<Layout>>(memref.getDefiningOp())
      .Case<memref::ExpandShapeOp>([&](auto expand) { return readExpanded(expand, *dims); })
      .Case<memref::CollapseShapeOp>([&](auto collapse) { return readCollapsed(collapse, *dims); })
      .Case<memref::SubViewOp>([&](auto view) { return readSliced(view, *dims); })
      .Case<memref::CastOp>([](auto cast) { return readLayout(cast.getSource()); })
      .Case<memref::ReinterpretCastOp>([&](auto cast) -> std::optional<Layout> {
        // ComputeInPlace makes such casts: the whole buffer with other dims.
        if (!cast.getType().getLayout().isIdentity())
          return std::nullopt;
        return makeContiguous(*dims, cast.getContext());
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the layout that the type of `memref` states, or nullopt if it is not static.
static std::optional<Layout> readStaticLayout(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, type.getContext()); };
  return Layout{{}, llvm::map_to_vector(strides, constant), constant(offset)};
}

FailureOr<LinearBuffer> inlay::flattenBuffer(OpBuilder &builder, Location loc, Value memref, LinearBufferRoots &roots) {
  // The type of a view states its layout relative to the root. For a chain of static views, the root is all that is
  // needed.
  Value root = findRoot(memref);
  auto rootType = cast<MemRefType>(root.getType());
  bool isStatic = rootType.hasStaticShape() && rootType.getLayout().isIdentity();
  std::optional<Layout> layout = isStatic ? readStaticLayout(memref) : std::nullopt;
  if (!layout && !(layout = readLayout(memref)))
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
  return LinearBuffer{known, layout->strides, layout->offset};
}

/// Returns the fill that initializes `op`'s only output right before `op`, or null.
static linalg::FillOp findInitialFill(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  // Other views of the buffer might access the same elements.
  Value output = op.getDpsInits().front();
  // The reduction must write all elements of the fill and must read them only as its start.
  if (!op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation() ||
      llvm::is_contained(op.getDpsInputs(), output))
    return nullptr;
  for (Value buffer = output; auto view = buffer.getDefiningOp<ViewLikeOpInterface>(); buffer = view.getViewSource())
    if (!view.getViewSource().hasOneUse())
      return nullptr;
  Operation *last = nullptr; // The last user before `op`.
  for (Operation *user : output.getUsers()) {
    if (user->getBlock() != op->getBlock() || (isa<ViewLikeOpInterface>(user) && user->isBeforeInBlock(op)))
      return nullptr;
    if (user->isBeforeInBlock(op) && (!last || last->isBeforeInBlock(user)))
      last = user;
  }
  return dyn_cast_or_null<linalg::FillOp>(last);
}

/// Refuses an op on tensors, and buffers whose elements cannot be numbered.
static LogicalResult checkBuffers(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics())
    return op.emitError("expected a structured op on buffers, but got one on tensors; bufferize the function first");
  for (Type type : op->getOperandTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    int64_t elements = 1;
    for (int64_t size : buffer ? buffer.getShape() : ArrayRef<int64_t>())
      if (!ShapedType::isDynamic(size) && llvm::MulOverflow(elements, size, elements))
        return op.emitError("expected buffers of less than 2^63 elements, but got ") << type;
  }
  return success();
}

FailureOr<InitialValues> inlay::prepareLinalgOps(func::FuncOp func) {
  for (auto op : func.getOps<linalg::LinalgOp>())
    if (failed(checkBuffers(op)))
      return failure();
  InitialValues values;
  // Ops without elements to write compute nothing. Fusion also leaves ops without a result because their bodies call
  // library functions, which have no side effects.
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
