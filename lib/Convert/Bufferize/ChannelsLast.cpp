// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions on data whose channels are innermost, and with them what is computed between: a labelling of tensors, by
// which ops read and write other orders of dims. Copies remain where a tensor enters or leaves.

#include "inlay/Convert/GraphToLinalg/Structured.h"
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
  /// With `direct`, structured ops that are convolutions are relabelled, too.
  Labelling(func::FuncOp func, bool direct) : func(func), direct(direct), rewriter(func.getContext()) {}

  void run();

private:
  /// Makes a copy of the op that reads, and writes if it pays, channels last; false if it can't.
  bool relabel(Operation *op);
  bool relabelConvolution(plan::LibraryCallOp op);
  void readLast(plan::LibraryCallOp contraction);
  bool relabelDirect(linalg::GenericOp op);
  bool relabelGeneric(linalg::GenericOp op);
  /// What an elementwise op that reads nothing labelled computes, with channels last; null if it is none.
  Value computeLast(Value value);
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
  bool direct;
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
  if (Value computed = computeLast(init))
    return computed;
  return toLast(init);
}

/// Puts the loops of `op` in the order of its result and its reductions in the order `inner`, so that the innermost one
/// goes along what is contiguous.
static linalg::GenericOp orderLoops(RewriterBase &rewriter, linalg::GenericOp op, ArrayRef<unsigned> inner = {}) {
  SmallVector<unsigned> order;
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  llvm::append_range(order, inner);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, op, order);
  return succeeded(ordered) ? *ordered : op;
}

Value Labelling::computeLast(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !value.hasOneUse() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 || isLabelled(value) ||
      !op.getIndexingMapsArray().back().isPermutation())
    return nullptr;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value init = toLastInit(op.getDpsInits()[0]);
  auto copy = cast<linalg::GenericOp>(rewriter.clone(*op));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = moveLast(maps.back());
  copy.getDpsInitsMutable()[0].set(init);
  copy.getResult(0).setType(tensorType(init));
  copy.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  return orderLoops(rewriter, copy).getResult(0);
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

//===-- Convolutions that are one structured op -----------------------------------------------------------------===//

/// The loop that dim `dim` of an operand is; nullopt if it is no single loop.
static std::optional<unsigned> findLoop(AffineMap map, unsigned dim) {
  if (dim >= map.getNumResults())
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
}

/// True for a reduction of products of two operands, the first of at least one place for each of the result's.
static bool isWindowed(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 && op.getNumResults() == 1 &&
         op.getNumReductionLoops() > 0 && maps[2].isProjectedPermutation() && maps[2].getNumResults() >= 3 &&
         maps[0].getNumResults() == maps[2].getNumResults() && maps[0].getResult(0) == maps[2].getResult(0);
}

/// The loop over input channels, if `op` is a convolution of one group.
static std::optional<unsigned> findInputChannel(linalg::GenericOp op) {
  if (!isWindowed(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap input = maps[0], weight = maps[1], result = maps[2];
  std::optional<unsigned> channel = findLoop(input, 1), output = findLoop(result, 1);
  if (!channel || !output || input.isFunctionOfDim(*output) || !weight.isFunctionOfDim(*output) ||
      !weight.isFunctionOfDim(*channel) || result.isFunctionOfDim(*channel))
    return std::nullopt;
  for (unsigned dim = 0; dim < result.getNumResults(); ++dim) {
    unsigned loop = cast<AffineDimExpr>(result.getResult(dim)).getPosition();
    if (dim != 1 && (weight.isFunctionOfDim(loop) || !input.getResult(dim).isFunctionOfDim(loop)))
      return std::nullopt;
  }
  return channel;
}

/// True for a convolution whose groups are a loop of their own.
static bool isGrouped(linalg::GenericOp op) {
  if (!isWindowed(op))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[2].getNumResults() > 3 && maps[1].getNumResults() > 0 && maps[0].getResult(1) == maps[2].getResult(1) &&
         maps[1].getResult(0) == maps[2].getResult(1);
}

/// Computing with channels last takes copies of input and result, which many terms for each element outweigh.
bool Labelling::relabelDirect(linalg::GenericOp op) {
  constexpr int64_t kMinTerms = 64, kVector = 4;
  std::optional<unsigned> channel = findInputChannel(op);
  if (!channel)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t terms = 1, outputs = sizes[*findLoop(maps[2], 1)];
  SmallVector<unsigned> inner;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(sizes[loop]))
        return false;
      terms *= sizes[loop];
      if (loop != *channel)
        inner.push_back(loop);
    }
  inner.push_back(*channel);
  if (ShapedType::isDynamic(outputs) || outputs % kVector || (!isLabelled(op.getInputs()[0]) && terms < kMinTerms))
    return false;
  Value input = toLast(op.getInputs()[0]), init = toLastInit(op.getDpsInits()[0]);
  auto copy = cast<linalg::GenericOp>(rewriter.clone(*op));
  copy.getInputsMutable()[0].set(input);
  copy.getDpsInitsMutable()[0].set(init);
  copy.getResult(0).setType(tensorType(init));
  maps[0] = moveLast(maps[0]);
  maps[2] = moveLast(maps[2]);
  copy.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  labelled[op.getResult(0)] = orderLoops(rewriter, copy, inner).getResult(0);
  return true;
}

//===-- Other ops -----------------------------------------------------------------------------------------------===//

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
  labelled[op.getResult(0)] = orderLoops(rewriter, copy).getResult(0);
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
      .Case([&](linalg::GenericOp generic) { return (direct && relabelDirect(generic)) || relabelGeneric(generic); })
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
  using ChannelsLastPassBase::ChannelsLastPassBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    bool hasGroups = llvm::any_of(getOperation().getOps<linalg::GenericOp>(), isGrouped);
    Labelling(getOperation(), direct && !hasGroups).run();
  }
};
} // namespace
