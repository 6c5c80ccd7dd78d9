// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infers shapes in one walk in program order. This is sufficient, because dims flow from operands to results, and
// refining a value also refines its counterpart on the other side of a segment border.

#include "ShapeAnalysis.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Shape/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace inlay {
#define GEN_PASS_DEF_SHAPEINFERPASS
#include "inlay/Shape/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Returns `type` with the dims that are static only in `other`. Returns `type` unchanged if the two are not ranked
/// tensors of the same rank.
static Type joinDims(Type type, Type other) {
  auto lhs = dyn_cast<RankedTensorType>(type), rhs = dyn_cast<RankedTensorType>(other);
  if (!lhs || !rhs || lhs.getRank() != rhs.getRank())
    return type;
  SmallVector<int64_t> shape(lhs.getShape());
  for (auto [dim, known] : llvm::zip_equal(shape, rhs.getShape()))
    if (ShapedType::isDynamic(dim))
      dim = known;
  return lhs.clone(shape);
}

namespace {
/// Refines the types of the values of one module.
class Refinement {
public:
  explicit Refinement(ModuleOp module);

  /// Infers the result types of `op` and refines its results.
  LogicalResult infer(Operation *op);
  /// Sets the result types of functions to the types that they now return.
  void updateFunctions();

private:
  /// Returns true if every user of `value` stays valid if its type becomes `type`.
  bool canRefine(Value value, Type type) const;
  bool canRefineUse(OpOperand &use, Type type) const;
  /// Sets the type of `value` and of its counterparts on the other side of segment borders.
  void refine(Value value, Type type);

  /// Functions whose result types may change, because nothing depends on them.
  llvm::SmallPtrSet<Operation *, 4> open;
};
} // namespace

Refinement::Refinement(ModuleOp module) {
  SymbolTableCollection tables;
  SymbolUserMap users(tables, module);
  module.walk([&](func::FuncOp function) {
    auto returns = function.getOps<func::ReturnOp>();
    if (users.useEmpty(function) && std::distance(returns.begin(), returns.end()) == 1)
      open.insert(function);
  });
}

bool Refinement::canRefine(Value value, Type type) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) { return canRefineUse(use, type); });
}

bool Refinement::canRefineUse(OpOperand &use, Type type) const {
  Operation *user = use.getOwner();
  if (auto segment = dyn_cast<SegmentOp>(user))
    return canRefine(segment.getBody().getArgument(use.getOperandNumber()), type);
  if (isa<YieldOp>(user))
    return canRefine(user->getParentOp()->getResult(use.getOperandNumber()), type);
  if (isa<func::ReturnOp>(user))
    return open.contains(user->getParentOp());
  if (auto cast = dyn_cast<tensor::CastOp>(user))
    return tensor::CastOp::areCastCompatible(type, cast.getType());
  if (isa<ListOp>(user)) // The type of the list depends on it.
    return false;
  return isa<AtenNamedOpInterface, OpaqueOp, PluginOp, tensor::DimOp>(user);
}

void Refinement::refine(Value value, Type type) {
  value.setType(type);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto segment = dyn_cast<SegmentOp>(user))
      refine(segment.getBody().getArgument(use.getOperandNumber()), type);
    else if (isa<YieldOp>(user))
      refine(user->getParentOp()->getResult(use.getOperandNumber()), type);
  }
}

LogicalResult Refinement::infer(Operation *op) {
  auto interface = dyn_cast<InferTypeOpInterface>(op);
  if (!interface || !isa<AtenNamedOpInterface>(op))
    return success();
  SmallVector<Type> types;
  if (failed(interface.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
    return failure();
  for (auto [result, inferred] : llvm::zip_equal(op->getResults(), types)) {
    if (!interface.isCompatibleReturnTypes(inferred, result.getType()))
      return op->emitOpError("expected a result of type ") << inferred << ", but got " << result.getType();
    Type type = joinDims(result.getType(), inferred);
    if (type != result.getType() && canRefine(result, type))
      refine(result, type);
  }
  return success();
}

void Refinement::updateFunctions() {
  for (Operation *op : open) {
    auto function = cast<func::FuncOp>(op);
    auto terminator = *function.getOps<func::ReturnOp>().begin();
    function.setFunctionType(
        function.getFunctionType().clone(function.getArgumentTypes(), terminator.getOperandTypes()));
  }
}

/// Returns the symbol if `size` is a multiple of a single symbol.
static std::optional<unsigned> findOnlySymbol(AffineExpr size) {
  auto product = dyn_cast<AffineBinaryOpExpr>(size);
  if (product && product.getKind() == AffineExprKind::Mul && isa<AffineConstantExpr>(product.getRHS()))
    size = product.getLHS();
  auto symbol = dyn_cast<AffineSymbolExpr>(size);
  return symbol ? std::optional(symbol.getPosition()) : std::nullopt;
}

namespace {
/// Raises the minimum of symbols to exclude sizes at which an op could not run: a tensor that is read at indices must
/// have elements, unless there are no indices.
class MinSizes {
public:
  explicit MinSizes(const ShapeAnalysis &analysis) : analysis(analysis), symbols(analysis.getSymbols()) {}

  SmallVector<SymbolAttr> find(FunctionOpInterface function) {
    function.walk([&](Operation *op) {
      if (auto embedding = dyn_cast<EmbeddingOp>(op))
        return read(embedding.getWeight(), 0, embedding.getIndices());
      if (auto select = dyn_cast<IndexSelectOp>(op))
        return read(select.getInput(), select.getDim(), select.getIndex());
      if (auto gather = dyn_cast<GatherOp>(op))
        return read(gather.getInput(), gather.getDim(), gather.getIndex());
      if (auto index = dyn_cast<IndexOp>(op))
        for (auto [dim, indices] : llvm::zip(index.getDims(), index.getIndices()))
          read(index.getInput(), dim, indices);
    });
    return symbols;
  }

private:
  void read(Value table, int64_t dim, Value indices) {
    const SmallVector<AffineExpr> *dims = analysis.getDims(table), *count = analysis.getDims(indices);
    int64_t rank = dims ? dims->size() : 0;
    if (!count || dim < -rank || dim >= rank)
      return;
    std::optional<unsigned> found = findOnlySymbol((*dims)[dim < 0 ? dim + rank : dim]);
    bool mayBeNone = llvm::any_of(*count, [&](AffineExpr size) {
      return getRange(size, symbols).max == 0 || (found && size.isFunctionOfSymbol(*found));
    });
    if (!found || mayBeNone || symbols[*found].getMin() > 0 || symbols[*found].getMax() < 1)
      return;
    SymbolAttr symbol = symbols[*found];
    symbols[*found] = SymbolAttr::get(symbol.getContext(), symbol.getName(), 1, symbol.getMax(), symbol.getTypical());
  }

  const ShapeAnalysis &analysis;
  SmallVector<SymbolAttr> symbols;
};
} // namespace

/// Adds what ops need of sizes to the conditions of the function, which calls check.
static void addConditions(FunctionOpInterface function, const ShapeAnalysis &analysis) {
  MLIRContext *context = function.getContext();
  llvm::SmallSetVector<Attribute, 4> conditions;
  if (auto known = function->getAttrOfType<ArrayAttr>(InlayDialect::kConditionsAttr))
    conditions.insert_range(known);
  for (const auto &[op, constraint] : analysis.getConstraints()) {
    IntegerSet set = IntegerSet::get(0, analysis.getSymbols().size(), constraint.value, constraint.isEquality);
    conditions.insert(ArrayAttr::get(context, IntegerSetAttr::get(set)));
  }
  if (!conditions.empty())
    function->setAttr(InlayDialect::kConditionsAttr, ArrayAttr::get(context, conditions.getArrayRef()));
}

/// Sets `inlay.dims` for dynamic tensors, on the ops that define them and on arguments.
static void annotateDims(FunctionOpInterface function) {
  auto isOpen = [](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor && !tensor.hasStaticShape();
  };
  WalkResult found = function.walk([&](Operation *op) {
    return llvm::any_of(op->getResults(), isOpen) ? WalkResult::interrupt() : WalkResult::advance();
  });
  bool opens = !function.isExternal() && llvm::any_of(function.getFunctionBody().getArguments(), isOpen);
  if (!opens && !found.wasInterrupted())
    return;
  ShapeAnalysis analysis(function);
  MLIRContext *context = function.getContext();
  unsigned symbols = analysis.getSymbols().size();
  SmallVector<SymbolAttr> ranges = MinSizes(analysis).find(function);
  SmallVector<Attribute> attributes(ranges.begin(), ranges.end());
  function->setAttr(InlayDialect::kSymbolsAttr, ArrayAttr::get(context, attributes));
  addConditions(function, analysis);
  for (BlockArgument argument : function.getFunctionBody().getArguments())
    if (isOpen(argument))
      function.setArgAttr(argument.getArgNumber(), InlayDialect::kDimsAttr,
                          makeDimsAttr(context, symbols, *analysis.getDims(argument)));
  auto describe = [&](Value value) -> Attribute {
    const SmallVector<AffineExpr> *dims = analysis.getDims(value);
    return makeDimsAttr(context, symbols, dims ? ArrayRef(*dims) : ArrayRef<AffineExpr>());
  };
  function.walk([&](Operation *op) {
    bool isSegment = isa<SegmentOp>(op);
    op->removeAttr(InlayDialect::kDimsAttr);
    SmallVector<Value> values;
    if (isSegment)
      llvm::append_range(values, op->getOperands());
    llvm::append_range(values, op->getResults());
    bool isKnown = llvm::any_of(values, [&](Value value) { return isOpen(value) && analysis.getDims(value); });
    if (op != function && (isKnown || analysis.isUnfit(op)))
      op->setAttr(InlayDialect::kDimsAttr, ArrayAttr::get(context, llvm::map_to_vector(values, describe)));
  });
}

namespace {
struct ShapeInferPass : inlay::impl::ShapeInferPassBase<ShapeInferPass> {
  void runOnOperation() override {
    Refinement refinement(getOperation());
    WalkResult walked =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) { return WalkResult(refinement.infer(op)); });
    if (walked.wasInterrupted())
      return signalPassFailure();
    refinement.updateFunctions();
    getOperation().walk([](FunctionOpInterface function) { annotateDims(function); });
  }
};
} // namespace

void inlay::buildShapePipeline(OpPassManager &passes) {
  passes.addPass(createShapeInferPass());
  passes.addPass(createShapeVerifyPass());
}
