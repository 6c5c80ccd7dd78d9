// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes convolutions, and the ops between them, compute on data whose channels are innermost. The pass labels tensors;
// ops that use a labeled tensor read and write it in the other order of dims. A copy remains where a tensor enters or
// leaves.

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

/// Moves the element for the channels to the end: batch, channels, spatial dims become batch, spatial dims, channels.
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
/// Maps the tensors of one function to the tensors with channels last that replace them.
class Labeling {
public:
  /// With `direct`, structured ops that are convolutions are relabeled too.
  Labeling(func::FuncOp func, bool direct) : func(func), direct(direct), rewriter(func.getContext()) {}

  void run();

private:
  /// Makes a copy of the op that reads channels last, and writes channels last if that pays. Returns false if there is
  /// no such copy.
  bool relabel(Operation *op);
  bool relabelConvolution(plan::LibraryCallOp op);
  void readLast(plan::LibraryCallOp contraction);
  bool relabelDirect(linalg::GenericOp op);
  bool relabelGeneric(linalg::GenericOp op);
  /// Returns the result, with channels last, of an elementwise op that reads no labeled tensor. Returns null for other
  /// values.
  Value computeLast(Value value);
  bool relabelCollapse(tensor::CollapseShapeOp op);
  bool relabelSlice(tensor::ExtractSliceOp op);
  bool relabelSlice(tensor::InsertSliceOp op);

  bool isLabeled(Value value) const { return labeled.contains(value); }
  /// Returns the tensor with channels last. Makes a copy if there is none yet.
  Value toLast(Value value);
  /// Returns, with channels last, the initial content of `init`.
  Value toLastInit(Value init);
  Value createTranspose(Value source, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> sizes, AffineMap map);
  /// Restores the original order for ops that still use it.
  void restore();

  func::FuncOp func;
  bool direct;
  IRRewriter rewriter;
  llvm::MapVector<Value, Value> labeled;
  llvm::DenseMap<Value, Value> copies; ///< Copies, with channels last, of tensors that are not labeled.
  SmallVector<Operation *> replaced;   ///< In order; erased at the end.
  llvm::SmallPtrSet<Operation *, 16> isReplaced;
};
} // namespace

//===-- Conversion to and from the order -------------------------------------------------------------------------===//

/// Returns the sizes of a value that this pass or the conversion to linalg has made.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value value) {
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  if (auto call = value.getDefiningOp<plan::LibraryCallOp>())
    return getSizes(builder, call.getInit());
  if (auto generic = value.getDefiningOp<linalg::LinalgOp>())
    return getSizes(builder, generic.getDpsInits()[0]);
  return inlay::getSizes(builder, value.getLoc(), value);
}

Value Labeling::createTranspose(Value source, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> sizes, AffineMap map) {
  Location loc = source.getLoc();
  Value init = tensor::EmptyOp::create(rewriter, loc, sizes, tensorType(source).getElementType());
  if (tensorType(init).getShape() != shape) // The type may have fewer static dims than the sizes.
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

/// Returns true if all dims except batch and channels have size 1, so that channels already are last.
static bool hasChannelsAlone(Value value) {
  return llvm::all_of(tensorType(value).getShape().drop_front(2), [](int64_t size) { return size == 1; });
}

Value Labeling::toLast(Value value) {
  if (isLabeled(value))
    return labeled[value];
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
  // Loop i of the copy goes over dim i of its result.
  SmallVector<AffineExpr> exprs{rewriter.getAffineDimExpr(0), rewriter.getAffineDimExpr(type.getRank() - 1)};
  for (int64_t dim = 2; dim < type.getRank(); ++dim)
    exprs.push_back(rewriter.getAffineDimExpr(dim - 1));
  return copy = createTranspose(value, shape, sizes, AffineMap::get(type.getRank(), 0, exprs, func.getContext()));
}

Value Labeling::toLastInit(Value init) {
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

/// Puts the parallel loops of `op` in the order of its result and its reductions in the order `inner`, so that the
/// innermost loop accesses contiguous elements.
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

Value Labeling::computeLast(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !value.hasOneUse() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 || isLabeled(value) ||
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

void Labeling::restore() {
  for (auto &[original, last] : labeled) {
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

/// Makes a contraction read labeled tensors through changed maps.
void Labeling::readLast(plan::LibraryCallOp contraction) {
  SmallVector<AffineMap> maps(contraction.getMapsAttr().getAsValueRange<AffineMapAttr>());
  for (OpOperand &operand : contraction.getInputsMutable())
    if (isLabeled(operand.get())) {
      maps[operand.getOperandNumber()] = moveLast(maps[operand.getOperandNumber()]);
      operand.set(labeled[operand.get()]);
    }
  contraction.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

bool Labeling::relabelConvolution(plan::LibraryCallOp op) {
  if (op.getKind() == plan::HostKernelKind::contraction)
    readLast(op);
  if (op.getKind() != plan::HostKernelKind::convolution || !op.getResult())
    return false;
  NamedAttrList config(op.getConfigAttr());
  if (config.get("channels_last"))
    return false;
  SmallVector<Value> inputs(op.getInputs());
  // Later inputs are operands of post-ops. Some have one element per channel.
  int64_t firstOperand = config.get("bias") ? 3 : 2;
  for (auto [number, input] : llvm::enumerate(inputs))
    if (number == 0 || (static_cast<int64_t>(number) >= firstOperand && tensorType(input).getRank() > 1))
      input = toLast(input);
  config.set("channels_last", rewriter.getUnitAttr());
  Value init = toLastInit(op.getInit());
  auto call = plan::LibraryCallOp::create(rewriter, op.getLoc(), init.getType(), op.getKind(), inputs, init,
                                          ArrayAttr(), op.getConstantsAttr(), op.getPostOpsAttr(),
                                          config.getDictionary(op.getContext()), op.getWindowAttr());
  labeled[op.getResult()] = call.getResult();
  return true;
}

//===-- Convolutions that are one structured op -----------------------------------------------------------------===//

/// Returns the loop that indexes dim `dim` of an operand, or nullopt if the index is not a single loop.
static std::optional<unsigned> findLoop(AffineMap map, unsigned dim) {
  if (dim >= map.getNumResults())
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
}

/// Returns true for a reduction of products of two operands where the first operand has a dim for each dim of the
/// result.
static bool isWindowed(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 && op.getNumResults() == 1 &&
         op.getNumReductionLoops() > 0 && maps[2].isProjectedPermutation() && maps[2].getNumResults() >= 3 &&
         maps[0].getNumResults() == maps[2].getNumResults() && maps[0].getResult(0) == maps[2].getResult(0);
}

/// Returns the loop over input channels if `op` is a convolution with one group.
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

/// Returns true for a convolution with a loop over its groups.
static bool isGrouped(linalg::GenericOp op) {
  if (!isWindowed(op))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[2].getNumResults() > 3 && maps[1].getNumResults() > 0 && maps[0].getResult(1) == maps[2].getResult(1) &&
         maps[1].getResult(0) == maps[2].getResult(1);
}

/// Computation with channels last needs copies of the input and the result. They pay if an element has many terms.
bool Labeling::relabelDirect(linalg::GenericOp op) {
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
  if (ShapedType::isDynamic(outputs) || outputs % kVector || (!isLabeled(op.getInputs()[0]) && terms < kMinTerms))
    return false;
  Value input = toLast(op.getInputs()[0]), init = toLastInit(op.getDpsInits()[0]);
  auto copy = cast<linalg::GenericOp>(rewriter.clone(*op));
  copy.getInputsMutable()[0].set(input);
  copy.getDpsInitsMutable()[0].set(init);
  copy.getResult(0).setType(tensorType(init));
  maps[0] = moveLast(maps[0]);
  maps[2] = moveLast(maps[2]);
  copy.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  labeled[op.getResult(0)] = orderLoops(rewriter, copy, inner).getResult(0);
  return true;
}

//===-- Other ops -----------------------------------------------------------------------------------------------===//

/// Returns true if the loop of the result's channel dim also goes over the channels of `read`. `read` holds the indices
/// or the map by which the op reads a labeled tensor of the same rank.
static bool goesOverChannels(AffineMap result, AffineMap read) {
  return read.getNumResults() == result.getNumResults() && read.getResult(1) == result.getResult(1);
}

static bool goesOverChannels(AffineMap result, tensor::ExtractOp read) {
  auto index = read.getIndices().size() == result.getNumResults()
                   ? read.getIndices()[1].getDefiningOp<linalg::IndexOp>()
                   : linalg::IndexOp();
  return index && result.getDimPosition(1) == index.getDim();
}

bool Labeling::relabelGeneric(linalg::GenericOp op) {
  AffineMap result = op.getIndexingMapsArray().back();
  bool fits = op.getNumDpsInits() == 1 && op.getNumResults() == 1 && result.getNumResults() >= 3 &&
              result.isProjectedPermutation();
  bool reads = false, pays = false;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isLabeled(operand->get())) {
      reads = true;
      pays |= fits && goesOverChannels(result, op.getMatchingIndexingMap(operand));
    }
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    if (isLabeled(extract.getTensor())) {
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
    if (isLabeled(operand->get())) {
      AffineMap &map = maps[operand->getOperandNumber()];
      map = moveLast(map);
      operand->set(labeled[operand->get()]);
    }
  copy.getBody()->walk([&](tensor::ExtractOp extract) {
    if (!isLabeled(extract.getTensor()))
      return;
    extract.getIndicesMutable().assign(moveLast(extract.getIndices()));
    extract.getTensorMutable().assign(labeled[extract.getTensor()]);
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
  labeled[op.getResult(0)] = orderLoops(rewriter, copy).getResult(0);
  return true;
}

/// Merges the spatial dims, for example into a sequence of pixels, or drops them if there is only one pixel.
bool Labeling::relabelCollapse(tensor::CollapseShapeOp op) {
  if (!isLabeled(op.getSrc()))
    return false;
  SmallVector<ReassociationIndices> parts = op.getReassociationIndices();
  Value last = labeled[op.getSrc()];
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
  labeled[op.getResult()] = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), last, parts);
  return true;
}

bool Labeling::relabelSlice(tensor::ExtractSliceOp op) {
  if (!isLabeled(op.getSource()) || op.getType().getRank() != op.getSourceType().getRank())
    return false;
  auto type = op.getType().clone(ArrayRef<int64_t>(moveLast(op.getType().getShape())));
  labeled[op.getResult()] = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), cast<RankedTensorType>(type), labeled[op.getSource()], moveLast(op.getMixedOffsets()),
      moveLast(op.getMixedSizes()), moveLast(op.getMixedStrides()));
  return true;
}

bool Labeling::relabelSlice(tensor::InsertSliceOp op) {
  if (!(isLabeled(op.getSource()) || isLabeled(op.getDest())) || op.getSourceType().getRank() != op.getType().getRank())
    return false;
  Value source = toLast(op.getSource()), dest = toLastInit(op.getDest());
  labeled[op.getResult()] =
      tensor::InsertSliceOp::create(rewriter, op.getLoc(), source, dest, moveLast(op.getMixedOffsets()),
                                    moveLast(op.getMixedSizes()), moveLast(op.getMixedStrides()));
  return true;
}

bool Labeling::relabel(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](plan::LibraryCallOp call) { return relabelConvolution(call); })
      .Case([&](linalg::GenericOp generic) { return (direct && relabelDirect(generic)) || relabelGeneric(generic); })
      .Case([&](tensor::CollapseShapeOp collapse) { return relabelCollapse(collapse); })
      .Case([&](tensor::ExtractSliceOp slice) { return relabelSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { return relabelSlice(slice); })
      .Default(false);
}

void Labeling::run() {
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
    Labeling(getOperation(), direct && !hasGroups).run();
  }
};
} // namespace
