// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves each segment into a function. Split control flow stays in place, around the calls of these functions.

#include "inlay/Convert/Bufferize/Bufferize.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Border.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Inlay/IR/Segments.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

namespace inlay {
#define GEN_PASS_DEF_OUTLINESEGMENTSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Replaces tensor constants of other dialects by `inlay.constant`, so that later steps handle one kind of constant.
static void replaceForeignConstants(func::FuncOp func) {
  func.walk([](Operation *op) {
    ElementsAttr value;
    if (!op->hasTrait<OpTrait::ConstantLike>() || isa<ConstantOp>(op) || !matchPattern(op, m_Constant(&value)) ||
        !isa<RankedTensorType>(value.getType()) || op->getResultTypes() != TypeRange(value.getType()))
      return;
    OpBuilder builder(op);
    op->replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), value.getType(), value));
    op->erase();
  });
}

/// Adds the dims of a new static input to the dims attribute of the segment, if it has one.
static void addInputDims(SegmentOp segment, RankedTensorType type) {
  auto dims = segment->getAttrOfType<ArrayAttr>(InlayDialect::kDimsAttr);
  if (!dims)
    return;
  MLIRContext *context = segment.getContext();
  auto exprs = llvm::map_to_vector(type.getShape(), [&](int64_t size) { return getAffineConstantExpr(size, context); });
  SmallVector<Attribute> maps(dims.begin(), dims.end());
  maps.insert(maps.begin() + segment.getInputs().size(), makeDimsAttr(context, getSymbols(segment).size(), exprs));
  segment->setAttr(InlayDialect::kDimsAttr, ArrayAttr::get(context, maps));
}

/// Moves constants that carry data from the segment's body to before the segment, as inputs. Splats are cheap and stay.
static void hoistConstants(SegmentOp segment) {
  Block &body = segment.getBody().front();
  for (auto constant : llvm::make_early_inc_range(body.getOps<ConstantOp>())) {
    if (isa<SplatElementsAttr>(constant.getValue()))
      continue;
    constant->moveBefore(segment);
    BlockArgument argument = body.addArgument(constant.getType(), constant.getLoc());
    constant.getResult().replaceAllUsesWith(argument);
    addInputDims(segment, constant.getType());
    segment.getInputsMutable().append(constant.getResult());
  }
}

/// Returns the location of the segment, fused with the locations of ops that lead to further recorded calls.
static Location getLocWithCalls(SegmentOp segment) {
  SmallVector<Location> locs{segment.getLoc()};
  llvm::StringSet<> known;
  for (Operation &op : segment.getBody().front()) {
    bool isNew = false;
    for (StringRef call : getCalls(op.getLoc()))
      isNew |= known.insert(call).second;
    if (isNew)
      locs.push_back(op.getLoc());
  }
  return FusedLoc::get(segment.getContext(), locs);
}

/// Records on `func`, and on its call, the dims that are known only at a call.
static void carryDims(SegmentOp segment, func::FuncOp parent, func::FuncOp func, Operation *invoke) {
  auto symbols = parent->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr);
  if (!symbols)
    return;
  func->setAttr(InlayDialect::kSymbolsAttr, symbols);
  for (auto [number, input] : llvm::enumerate(segment.getInputs()))
    if (auto type = dyn_cast<RankedTensorType>(input.getType()); type && !type.hasStaticShape())
      func.setArgAttr(number, InlayDialect::kDimsAttr, describeDims(input, symbols.size()));
  SmallVector<Attribute> results;
  for (auto [number, output] : llvm::enumerate(segment.getOutputs())) {
    results.push_back(describeDims(output, symbols.size()));
    if (auto type = dyn_cast<RankedTensorType>(output.getType()); type && !type.hasStaticShape())
      func.setResultAttr(number, InlayDialect::kDimsAttr, results.back());
  }
  if (segment->hasAttr(InlayDialect::kDimsAttr))
    invoke->setAttr(InlayDialect::kDimsAttr, ArrayAttr::get(func.getContext(), results));
}

/// Returns the control flow op that is alone in `segment` if everything inside it is in segments. Else returns null.
static Operation *findSplitControlFlow(SegmentOp segment) {
  Operation *found = nullptr;
  for (Operation &op : segment.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (found || !isa_and_nonnull<scf::SCFDialect>(op.getDialect()) || op.getNumRegions() == 0)
      return nullptr;
    found = &op;
  }
  if (!found)
    return nullptr;
  for (Region &region : found->getRegions())
    for (Operation &op : region.getOps())
      if (!isa<SegmentOp>(op) && !op.hasTrait<OpTrait::ConstantLike>() && !op.hasTrait<OpTrait::IsTerminator>())
        return nullptr;
  return found;
}

/// Replaces `segment` by its body.
static LogicalResult inlineSegment(SegmentOp segment, Operation *controlFlow, unsigned number) {
  if (!isa<scf::IfOp, scf::ForOp, scf::WhileOp>(controlFlow))
    return controlFlow->emitOpError("expected control flow with segments to be scf.if, scf.for or scf.while");
  controlFlow->setAttr(plan::kSegmentNumberAttr, Builder(segment.getContext()).getI64IntegerAttr(number));
  Block &body = segment.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), segment.getInputs()))
    argument.replaceAllUsesWith(input);
  Operation *yield = body.getTerminator();
  segment.replaceAllUsesWith(yield->getOperands());
  yield->erase();
  segment->getBlock()->getOperations().splice(segment->getIterator(), body.getOperations());
  segment.erase();
  return success();
}

/// Turns the scalars that enter and leave the function of a segment into tensors. Adds the return.
static void passScalars(func::FuncOp func) {
  Block &body = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (unsigned number = 0, count = body.getNumArguments(); number < count; ++number) {
    Type type = body.getArgument(number).getType();
    RankedTensorType border = getBorderType(type);
    if (!border || border == type)
      continue;
    Location loc = body.getArgument(number).getLoc();
    Value tensor = body.insertArgument(number, border, loc);
    body.getArgument(number + 1).replaceAllUsesWith(fromBorder(builder, loc, tensor, type));
    body.eraseArgument(number + 1);
  }
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  SmallVector<Value> results;
  for (Value value : yield->getOperands())
    results.push_back(getBorderType(value.getType()) ? toBorder(builder, yield->getLoc(), value) : value);
  func::ReturnOp::create(builder, yield->getLoc(), results);
  yield->erase();
  func.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), TypeRange(ValueRange(results))));
}

/// Marks the arguments of the segment's function that are the same at each call.
static void markConstants(SegmentOp segment, func::FuncOp func) {
  for (auto [number, input] : llvm::enumerate(segment.getInputs()))
    if (input.getDefiningOp<ConstantOp>())
      func.setArgAttr(number, plan::kConstantArgumentAttr, UnitAttr::get(func.getContext()));
}

//===-- Updates in place ----------------------------------------------------------------------------------------===//

namespace {
/// The inputs that results replace in their memory, for each segment: the number of an input for each result, or -1.
using Updates = llvm::DenseMap<SegmentOp, SmallVector<int64_t>>;
} // namespace

/// Follows the writes of parts of a tensor back to the tensor that they start from.
static Value findUnwritten(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (isa<SliceScatterOp, ScatterOp, IndexPutOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

/// Returns true if `segment` is the last op that uses `value`, and uses it once.
static bool isLastUse(Value value, SegmentOp segment) {
  return llvm::count(segment.getInputs(), value) == 1 && llvm::all_of(value.getUsers(), [&](Operation *user) {
           Operation *ancestor = segment->getBlock()->findAncestorOpInBlock(*user);
           return ancestor == segment || ancestor->isBeforeInBlock(segment);
         });
}

/// Lets segments update a state of `func` in its memory if each of them is the last op that uses the value before it.
/// argument: the state. next: its next value.
static void findUpdates(BlockArgument argument, Value next, Updates &updates) {
  struct Update {
    SegmentOp segment;
    unsigned result;
    int64_t input;
  };
  SmallVector<Update> found;
  for (Value value = next; value != argument;) {
    auto segment = value.getDefiningOp<SegmentOp>();
    if (!segment || segment->getBlock() != argument.getOwner() || !segment.getTargetInterface().canUpdateInPlace() ||
        findSplitControlFlow(segment))
      return;
    Block &body = segment.getBody().front();
    unsigned result = cast<OpResult>(value).getResultNumber();
    auto start = dyn_cast<BlockArgument>(findUnwritten(body.getTerminator()->getOperand(result)));
    // A result that doesn't start from an input may still use the memory of the state: it is written after all reads.
    Value input = start && start.getOwner() == &body ? segment.getInputs()[start.getArgNumber()] : Value(argument);
    auto position = llvm::find(segment.getInputs(), input);
    if (position == segment.getInputs().end() || input.getType() != value.getType() || !isLastUse(input, segment))
      return;
    found.push_back({segment, result, position - segment.getInputs().begin()});
    value = input;
  }
  for (Update &update : found) {
    SmallVector<int64_t> &inputs = updates[update.segment];
    inputs.resize(update.segment.getNumResults(), -1);
    inputs[update.result] = update.input;
  }
}

/// Returns the updates in place of all states of `func`.
static Updates findUpdates(func::FuncOp func) {
  Updates updates;
  auto states = func->getAttrOfType<IntegerAttr>(InlayDialect::kStatesAttr);
  Operation *terminator = func.front().getTerminator();
  unsigned count = states ? states.getInt() : 0, firstResult = terminator->getNumOperands() - count;
  for (BlockArgument argument : func.getArguments().take_back(count)) {
    unsigned number = argument.getArgNumber() + count - func.getNumArguments();
    findUpdates(argument, terminator->getOperand(firstResult + number), updates);
  }
  return updates;
}

/// Records the updates on the function of a segment and on its call.
static void carryUpdates(ArrayRef<int64_t> updates, func::FuncOp func, plan::InvokeOp invoke) {
  if (updates.empty())
    return;
  Builder builder(func.getContext());
  for (auto [result, input] : llvm::enumerate(updates))
    if (input >= 0)
      func.setResultAttr(result, plan::kUpdatesAttr, builder.getI64IntegerAttr(input));
  invoke.setUpdatesAttr(builder.getDenseI64ArrayAttr(updates));
}

static LogicalResult outline(SegmentOp segment, func::FuncOp parent, unsigned number, ArrayRef<int64_t> updates,
                             SymbolTable &symbols) {
  if (!segment.isClosed())
    return segment.emitOpError("expected a closed segment, but its body uses values from around it");
  if (Operation *controlFlow = findSplitControlFlow(segment))
    return inlineSegment(segment, controlFlow, number);
  WalkResult nested = segment.getBody().walk([](SegmentOp inner) {
    inner.emitOpError("expected segments at the top level of a function or in control flow that is alone in a segment");
    return WalkResult::interrupt();
  });
  if (nested.wasInterrupted())
    return failure();
  hoistConstants(segment);
  OpBuilder builder(segment);
  Location loc = getLocWithCalls(segment);
  auto type = builder.getFunctionType(segment.getInputs().getTypes(), segment.getOutputs().getTypes());
  auto func = func::FuncOp::create(segment.getLoc(), (parent.getSymName() + "_" + Twine(number)).str(), type);
  func.setPrivate();
  func->setAttr(plan::kSegmentAttr, segment.getTarget());
  func.getBody().takeBody(segment.getBody());
  passScalars(func);
  symbols.insert(func, std::next(parent->getIterator()));
  auto invoke = plan::InvokeOp::create(builder, loc, segment.getOutputs().getTypes(), FlatSymbolRefAttr::get(func),
                                       segment.getInputs(), /*updates=*/DenseI64ArrayAttr());
  invoke->setAttr(plan::kSegmentNumberAttr, builder.getI64IntegerAttr(number));
  carryDims(segment, parent, func, invoke);
  markConstants(segment, func);
  carryUpdates(updates, func, invoke);
  segment.replaceAllUsesWith(invoke);
  segment.erase();
  return success();
}

namespace {
struct OutlineSegmentsPass : inlay::impl::OutlineSegmentsPassBase<OutlineSegmentsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      replaceForeignConstants(func);
      if (func.isDeclaration())
        continue;
      Updates updates = findUpdates(func);
      for (auto [number, segment] : llvm::enumerate(listSegments(func.front())))
        if (failed(outline(segment, func, number, updates.lookup(segment), symbols)))
          return signalPassFailure();
    }
  }
};
} // namespace
