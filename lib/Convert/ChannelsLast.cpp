// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of the library on data whose channels are innermost, and with them what is computed between: a labelling
// of tensors, by which ops read and write other orders of dims. Copies remain where a tensor enters or leaves.

#include "GraphToLinalg/Structured.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace inlay {
#define GEN_PASS_DEF_CHANNELSLASTPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Batch, channels, spatial dims as batch, spatial dims, channels: of whatever there is one of for each dim.
template <typename Range>
static auto moveLast(const Range &range) {
  SmallVector<std::decay_t<decltype(*range.begin())>> moved(range.begin(), range.end());
  std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
  return moved;
}

static AffineMap moveLast(AffineMap map) {
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), moveLast(map.getResults()), map.getContext());
}

namespace {
/// One function's tensors with channels last, by those that they stand for.
class Labelling {
public:
  explicit Labelling(func::FuncOp func) : func(func), rewriter(func.getContext()) {}

  void run();

private:
  /// Makes a copy of the op that reads, and writes if it pays, channels last; false if it can't.
  bool relabel(Operation *op);
  bool relabelConvolution(plan::LibraryCallOp op);
  void readLast(plan::LibraryCallOp contraction);
  bool relabelGeneric(linalg::GenericOp op);
  bool relabelCollapse(tensor::CollapseShapeOp op);
  bool relabelSlice(tensor::ExtractSliceOp op);
  bool relabelSlice(tensor::InsertSliceOp op);

  bool isLabelled(Value value) const { return labelled.contains(value); }
  /// The tensor with channels last, made by a copy if it isn't there.
  Value toLast(Value value);
  /// What `value`, an init, holds before it is written, with channels last.
  Value toLastInit(Value init);
  Value createTranspose(Value source, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> sizes, AffineMap map);
  /// Makes labelled tensors what ops read that go by the original order.
  void restore();

  func::FuncOp func;
  IRRewriter rewriter;
  llvm::MapVector<Value, Value> labelled;
  llvm::DenseMap<Value, Value> copies; ///< of tensors that aren't labelled
  SmallVector<Operation *> replaced;   ///< in order; erased at last
  llvm::SmallPtrSet<Operation *, 16> isReplaced;
};
} // namespace

//===-- Into the order and out of it ----------------------------------------------------------------------------===//

/// The sizes of what an op of this pass or the conversion to linalg has made.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value value) {
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  if (auto call = value.getDefiningOp<plan::LibraryCallOp>())
    return getSizes(builder, call.getInit());
  if (auto generic = value.getDefiningOp<linalg::LinalgOp>())
    return getSizes(builder, generic.getDpsInits()[0]);
  return inlay::getSizes(builder, value.getLoc(), value);
}

Value Labelling::createTranspose(Value source, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> sizes, AffineMap map) {
  Location loc = source.getLoc();
  Value init = tensor::EmptyOp::create(rewriter, loc, sizes, tensorType(source).getElementType());
  if (tensorType(init).getShape() != shape) // the type may know less than the sizes do
    init = tensor::CastOp::create(rewriter, loc, tensorType(source).clone(shape), init);
  unsigned rank = shape.size();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  AffineMap maps[] = {map, rewriter.getMultiDimIdentityMap(rank)};
  return linalg::GenericOp::create(rewriter, loc, init.getType(), source, init, maps, loops,
                                   [](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                                     linalg::YieldOp::create(nested, nestedLoc, args[0]);
                                   })
      .getResult(0);
}

/// True if no dim but batch and channels has more than one element, so that channels are last already.
static bool hasChannelsAlone(Value value) {
  return llvm::all_of(tensorType(value).getShape().drop_front(2), [](int64_t size) { return size == 1; });
}

Value Labelling::toLast(Value value) {
  if (isLabelled(value))
    return labelled[value];
  Value &copy = copies[value];
  if (copy)
    return copy;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(value);
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape = moveLast(type.getShape());
  SmallVector<OpFoldResult> sizes = moveLast(getSizes(rewriter, value));
  if (hasChannelsAlone(value)) {
    SmallVector<ReassociationIndices> merged{{0}, {}}, split{{0}, {}};
    for (int64_t dim = 1; dim < type.getRank(); ++dim) {
      merged[1].push_back(dim);
      split[1].push_back(dim);
    }
    Value flat = tensor::CollapseShapeOp::create(rewriter, value.getLoc(), value, merged);
    return copy = tensor::ExpandShapeOp::create(rewriter, value.getLoc(), type.clone(shape), flat, split, sizes);
  }
  // Its dim i is the loop that goes over it.
  SmallVector<AffineExpr> exprs{rewriter.getAffineDimExpr(0), rewriter.getAffineDimExpr(type.getRank() - 1)};
  for (int64_t dim = 2; dim < type.getRank(); ++dim)
    exprs.push_back(rewriter.getAffineDimExpr(dim - 1));
  return copy = createTranspose(value, shape, sizes, AffineMap::get(type.getRank(), 0, exprs, func.getContext()));
}

Value Labelling::toLastInit(Value init) {
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(rewriter, init.getLoc(), moveLast(empty.getMixedSizes()),
                                   empty.getType().getElementType());
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(rewriter, init.getLoc(), fill.getInputs(), toLastInit(fill.getOutputs()[0]))
        .getResult(0);
  return toLast(init);
}

void Labelling::restore() {
  for (auto &[original, last] : labelled) {
    auto isLeft = [&](OpOperand &use) {
      return !isReplaced.contains(func.getBody().findAncestorOpInRegion(*use.getOwner()));
    };
    if (llvm::none_of(original.getUses(), isLeft))
      continue;
    rewriter.setInsertionPointAfterValue(last);
    RankedTensorType type = tensorType(original);
    SmallVector<OpFoldResult> sizes = getSizes(rewriter, last);
    std::rotate(sizes.begin() + 1, sizes.end() - 1, sizes.end());
    AffineMap map = moveLast(rewriter.getMultiDimIdentityMap(type.getRank()));
    rewriter.replaceUsesWithIf(original, createTranspose(last, type.getShape(), sizes, map), isLeft);
  }
}

//===-- Ops -----------------------------------------------------------------------------------------------------===//

/// Lets a contraction's maps lead to labelled tensors.
void Labelling::readLast(plan::LibraryCallOp contraction) {
  SmallVector<AffineMap> maps(contraction.getMapsAttr().getAsValueRange<AffineMapAttr>());
  for (OpOperand &operand : contraction.getInputsMutable())
    if (isLabelled(operand.get())) {
      maps[operand.getOperandNumber()] = moveLast(maps[operand.getOperandNumber()]);
      operand.set(labelled[operand.get()]);
    }
  contraction.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

bool Labelling::relabelConvolution(plan::LibraryCallOp op) {
  if (op.getKind() == plan::HostKernelKind::contraction)
    readLast(op);
  if (op.getKind() != plan::HostKernelKind::convolution || !op.getResult())
    return false;
  NamedAttrList config(op.getConfigAttr());
  if (config.get("channels_last"))
    return false;
  SmallVector<Value> inputs(op.getInputs());
  int64_t own = config.get("bias") ? 3 : 2; // the rest are operands of post-ops, some of one element per channel
  for (auto [number, input] : llvm::enumerate(inputs))
    if (number == 0 || (static_cast<int64_t>(number) >= own && tensorType(input).getRank() > 1))
      input = toLast(input);
  config.set("channels_last", rewriter.getUnitAttr());
  Value init = toLastInit(op.getInit());
  auto call = plan::LibraryCallOp::create(rewriter, op.getLoc(), init.getType(), op.getKind(), inputs, init,
                                          ArrayAttr(), op.getConstantsAttr(), op.getPostOpsAttr(),
                                          config.getDictionary(op.getContext()), op.getWindowAttr());
  labelled[op.getResult()] = call.getResult();
  return true;
}

/// True if the loop at the result's channels goes over channels of `read`, the indices or the map that a labelled
/// tensor of the same rank is read by.
static bool goesOverChannels(AffineMap result, AffineMap read) {
  return read.getNumResults() == result.getNumResults() && read.getResult(1) == result.getResult(1);
}

static bool goesOverChannels(AffineMap result, tensor::ExtractOp read) {
  auto index = read.getIndices().size() == result.getNumResults()
                   ? read.getIndices()[1].getDefiningOp<linalg::IndexOp>()
                   : linalg::IndexOp();
  return index && result.getDimPosition(1) == index.getDim();
}

bool Labelling::relabelGeneric(linalg::GenericOp op) {
  AffineMap result = op.getIndexingMapsArray().back();
  bool fits = op.getNumDpsInits() == 1 && op.getNumResults() == 1 && result.getNumResults() >= 3 &&
              result.isProjectedPermutation();
  bool reads = false, pays = false;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isLabelled(operand->get())) {
      reads = true;
      pays |= fits && goesOverChannels(result, op.getMatchingIndexingMap(operand));
    }
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    if (isLabelled(extract.getTensor())) {
      reads = true;
      pays |= fits && goesOverChannels(result, extract);
    }
  });
  if (!reads)
    return false;
  Value init = pays ? toLastInit(op.getDpsInits()[0]) : op.getDpsInits()[0];
  auto copy = cast<linalg::GenericOp>(rewriter.clone(*op));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *operand : copy.getDpsInputOperands())
    if (isLabelled(operand->get())) {
      AffineMap &map = maps[operand->getOperandNumber()];
      map = moveLast(map);
      operand->set(labelled[operand->get()]);
    }
  copy.getBody()->walk([&](tensor::ExtractOp extract) {
    if (!isLabelled(extract.getTensor()))
      return;
    extract.getIndicesMutable().assign(moveLast(extract.getIndices()));
    extract.getTensorMutable().assign(labelled[extract.getTensor()]);
  });
  if (pays) {
    maps.back() = moveLast(result);
    copy.getDpsInitsMutable()[0].set(init);
    copy.getResult(0).setType(tensorType(init));
  }
  copy.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  if (!pays) {
    rewriter.replaceAllUsesWith(op->getResults(), copy->getResults());
    return true;
  }
  // The loops in the result's order, so that the innermost one goes along what is contiguous.
  SmallVector<unsigned> order;
  for (AffineExpr expr : maps.back().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  for (unsigned loop = 0; loop < result.getNumDims(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, copy, order);
  labelled[op.getResult(0)] = (succeeded(ordered) ? *ordered : copy).getResult(0);
  return true;
}

/// Merges spatial dims, as a sequence of what were pixels, or drops them where there is but one pixel.
bool Labelling::relabelCollapse(tensor::CollapseShapeOp op) {
  if (!isLabelled(op.getSrc()))
    return false;
  SmallVector<ReassociationIndices> parts = op.getReassociationIndices();
  Value last = labelled[op.getSrc()];
  if (parts.size() == 2 && parts[0].size() == 1 && hasChannelsAlone(op.getSrc())) {
    rewriter.replaceAllUsesWith(op.getResult(), tensor::CollapseShapeOp::create(rewriter, op.getLoc(), last, parts));
    return true;
  }
  if (parts.size() < 3 || parts[0].size() != 1 || parts[1].size() != 1)
    return false;
  parts = moveLast(parts);
  int64_t next = 0;
  for (ReassociationIndices &part : parts)
    for (int64_t &dim : part)
      dim = next++;
  labelled[op.getResult()] = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), last, parts);
  return true;
}

bool Labelling::relabelSlice(tensor::ExtractSliceOp op) {
  if (!isLabelled(op.getSource()) || op.getType().getRank() != op.getSourceType().getRank())
    return false;
  auto type = op.getType().clone(ArrayRef<int64_t>(moveLast(op.getType().getShape())));
  labelled[op.getResult()] = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), cast<RankedTensorType>(type), labelled[op.getSource()], moveLast(op.getMixedOffsets()),
      moveLast(op.getMixedSizes()), moveLast(op.getMixedStrides()));
  return true;
}

bool Labelling::relabelSlice(tensor::InsertSliceOp op) {
  if (!(isLabelled(op.getSource()) || isLabelled(op.getDest())) ||
      op.getSourceType().getRank() != op.getType().getRank())
    return false;
  Value source = toLast(op.getSource()), dest = toLastInit(op.getDest());
  labelled[op.getResult()] =
      tensor::InsertSliceOp::create(rewriter, op.getLoc(), source, dest, moveLast(op.getMixedOffsets()),
                                    moveLast(op.getMixedSizes()), moveLast(op.getMixedStrides()));
  return true;
}

bool Labelling::relabel(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](plan::LibraryCallOp call) { return relabelConvolution(call); })
      .Case([&](linalg::GenericOp generic) { return relabelGeneric(generic); })
      .Case([&](tensor::CollapseShapeOp collapse) { return relabelCollapse(collapse); })
      .Case([&](tensor::ExtractSliceOp slice) { return relabelSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { return relabelSlice(slice); })
      .Default(false);
}

void Labelling::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (relabel(op)) {
      replaced.push_back(op);
      isReplaced.insert(op);
    }
  }
  restore();
  for (Operation *op : llvm::reverse(replaced))
    rewriter.eraseOp(op);
}

namespace {
struct ChannelsLastPass : inlay::impl::ChannelsLastPassBase<ChannelsLastPass> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      Labelling(getOperation()).run();
  }
};
} // namespace
