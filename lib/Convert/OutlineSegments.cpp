// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each segment into a function of its own.

#include "inlay/Convert/Bufferize.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

namespace inlay {
#define GEN_PASS_DEF_OUTLINESEGMENTSPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Makes tensor constants of other dialects ours: whatever a constant was written as, its data stays in one place.
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

/// Says the dims of one more input, a static one, where the segment says dims.
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

/// Moves constants that carry data from the segment's body to before it, as inputs. Splats cost nothing and stay.
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

/// The segment's location, with those that lead to the calls its ops were recorded for.
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

/// Says of `func`, and of its call, the dims that are known at a call alone.
static void carryDims(SegmentOp segment, func::FuncOp parent, func::FuncOp func, Operation *invoke) {
  auto symbols = parent->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr);
  if (!symbols)
    return;
  MLIRContext *context = func.getContext();
  func->setAttr(InlayDialect::kSymbolsAttr, symbols);
  auto describe = [&](Value value) {
    std::optional<SmallVector<AffineExpr>> dims = getDims(value);
    return makeDimsAttr(context, symbols.size(), dims ? ArrayRef(*dims) : ArrayRef<AffineExpr>());
  };
  for (auto [number, input] : llvm::enumerate(segment.getInputs()))
    if (auto type = dyn_cast<RankedTensorType>(input.getType()); type && !type.hasStaticShape())
      func.setArgAttr(number, InlayDialect::kDimsAttr, describe(input));
  SmallVector<Attribute> results;
  for (auto [number, output] : llvm::enumerate(segment.getOutputs())) {
    results.push_back(describe(output));
    if (auto type = dyn_cast<RankedTensorType>(output.getType()); type && !type.hasStaticShape())
      func.setResultAttr(number, InlayDialect::kDimsAttr, results.back());
  }
  if (segment->hasAttr(InlayDialect::kDimsAttr))
    invoke->setAttr(InlayDialect::kDimsAttr, ArrayAttr::get(context, results));
}

static LogicalResult outline(SegmentOp segment, func::FuncOp parent, unsigned number, SymbolTable &symbols) {
  if (!segment.isClosed())
    return segment.emitOpError("expected a closed segment, but its body uses values from around it");
  if (segment->getParentOp() != parent)
    return segment.emitOpError("expected segments at the top of a function: segments inside control flow "
                               "can't be converted yet");
  hoistConstants(segment);
  OpBuilder builder(segment);
  Location loc = getLocWithCalls(segment);
  auto type = builder.getFunctionType(segment.getInputs().getTypes(), segment.getOutputs().getTypes());
  auto func = func::FuncOp::create(segment.getLoc(), (parent.getSymName() + "_" + Twine(number)).str(), type);
  func.setPrivate();
  func->setAttr(kSegmentAttr, segment.getTarget());
  func.getBody().takeBody(segment.getBody());
  Operation *yield = func.getBody().front().getTerminator();
  OpBuilder inner(yield);
  func::ReturnOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  symbols.insert(func, std::next(parent->getIterator()));
  auto invoke = plan::InvokeOp::create(builder, loc, segment.getOutputs().getTypes(), FlatSymbolRefAttr::get(func),
                                       segment.getInputs());
  invoke->setAttr(plan::kSegmentNumberAttr, builder.getI64IntegerAttr(number));
  carryDims(segment, parent, func, invoke);
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
      SmallVector<SegmentOp> segments;
      func.walk([&](SegmentOp segment) { segments.push_back(segment); });
      for (auto [number, segment] : llvm::enumerate(segments))
        if (failed(outline(segment, func, number, symbols)))
          return signalPassFailure();
    }
  }
};
} // namespace
