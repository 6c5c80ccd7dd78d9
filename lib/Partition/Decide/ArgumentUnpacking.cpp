// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which lists and tuples among the arguments of a function enter an accelerator as separate elements, and emits
// the ops that take them apart before the segments and build them again inside.

#include "ArgumentUnpacking.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpStatements.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace inlay;

std::optional<SmallVector<Type>> inlay::findUnpackedTypes(Value value) {
  constexpr size_t kMaxForSeveralReaders = 256;
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return std::nullopt;
  SmallVector<Type> types;
  if (auto tuple = dyn_cast<TupleType>(value.getType()))
    llvm::append_range(types, tuple.getTypes());
  else if (auto length = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kLengthAttr))
    types.assign(static_cast<size_t>(length.getInt()), cast<ListType>(value.getType()).getElementType());
  if (types.empty() || !llvm::all_of(types, mayCrossBorder) ||
      (types.size() > kMaxForSeveralReaders && !value.hasOneUse()))
    return std::nullopt;
  return types;
}

TargetSet ArgumentTargets::findEnterableTargets(Value value) {
  auto [it, isNew] = entered.try_emplace(value, 0);
  if (!isNew)
    return it->second;
  std::optional<SmallVector<Type>> types = findUnpackedTypes(value);
  if (!types || aliases.isMutated(value))
    return 0;
  Block elements;
  elements.addArguments(*types, SmallVector<Location>(types->size(), value.getLoc()));
  OpBuilder builder(value.getContext());
  Operation *made = repackArgument(builder, value, elements.getArguments()).getDefiningOp();
  for (unsigned target = 0; target < targets.size(); ++target)
    if (targets.isAccelerator(target) && targets.canRunPassing(target, made))
      it->second |= TargetSet(1) << target;
  made->destroy();
  return it->second;
}

/// Returns a location whose name is that of the argument in reports, followed by `suffix`.
static Location nameAfter(Value argument, StringRef suffix) {
  std::string name = "arg#" + std::to_string(cast<BlockArgument>(argument).getArgNumber()) + suffix.str();
  return NameLoc::get(StringAttr::get(argument.getContext(), name), argument.getLoc());
}

ValueRange inlay::unpackArgument(Value argument, Block &block) {
  for (Operation &op : block)
    if (!isUnpacking(&op))
      break;
    else if (op.getOperand(0) == argument)
      return op.getResults();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  StringRef name = isa<TupleType>(argument.getType()) ? "prim::TupleUnpack" : "prim::ListUnpack";
  auto op = OpaqueOp::create(builder, nameAfter(argument, ".items"), *findUnpackedTypes(argument), argument, name,
                             /*writes=*/DenseI64ArrayAttr(), /*aliases=*/DenseI64ArrayAttr(), /*call=*/StringAttr(),
                             /*in_order=*/false, /*sizes=*/AffineMapAttr());
  op->setAttr(kUnpackedAttr, builder.getUnitAttr());
  return op->getResults();
}

Value inlay::repackArgument(OpBuilder &builder, Value argument, ValueRange elements) {
  Operation *op;
  if (isa<TupleType>(argument.getType()))
    op = OpaqueOp::create(builder, nameAfter(argument, ""), argument.getType(), elements, "prim::TupleConstruct",
                          /*writes=*/DenseI64ArrayAttr(), /*aliases=*/DenseI64ArrayAttr(), /*call=*/StringAttr(),
                          /*in_order=*/false, /*sizes=*/AffineMapAttr());
  else
    op = ListOp::create(builder, nameAfter(argument, ""), argument.getType(), elements);
  op->setAttr(InlayDialect::kCloneAttr, builder.getUnitAttr());
  op->setAttr(kUnpackedAttr, builder.getUnitAttr());
  return op->getResult(0);
}

bool inlay::isUnpacking(Operation *op) {
  return op->getNumOperands() == 1 && op->hasAttr(kUnpackedAttr) && !op->hasAttr(InlayDialect::kCloneAttr);
}

bool inlay::isRepacking(Operation *op) {
  return op->getNumOperands() > 0 && op->hasAttr(kUnpackedAttr) && op->hasAttr(InlayDialect::kCloneAttr);
}

/// Returns true if the op repacks exactly the results of one unpacking op. The attribute alone does not prove this,
/// since IR text may contain it on any op.
static bool repacksWhole(Operation *op) {
  Operation *parts = op->getOperand(0).getDefiningOp();
  return parts && isUnpacking(parts) && llvm::equal(op->getOperands(), parts->getResults()) &&
         llvm::equal(op->getResultTypes(), parts->getOperandTypes());
}

void inlay::removeUnpacking(Operation *function) {
  SmallVector<Operation *> dead;
  function->walk([&](Operation *op) {
    if (!isRepacking(op) || !repacksWhole(op))
      return;
    op->replaceAllUsesWith(op->getOperand(0).getDefiningOp()->getOperands());
    dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
  dead.clear();
  function->walk([&](Operation *op) {
    if (isUnpacking(op) && op->use_empty())
      dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
}
