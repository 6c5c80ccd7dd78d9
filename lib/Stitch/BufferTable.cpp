// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds or declares the buffer of a value in a memory, with the copies that it needs. AssembleProgram.cpp emits the
// steps.

#include "BufferTable.h"
#include "inlay/Dialect/Inlay/IR/Border.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;
using plan::Space;

BufferTable::BufferTable(func::FuncOp func, plan::ProgramOp program)
    : func(func), program(program), builder(OpBuilder::atBlockEnd(&program.getBody().front())),
      symbols(getSymbols(func)) {
  scopes.push_back({nullptr, false, {}, {}});
}

void BufferTable::enter(Operation *step, Region &body, bool isLoop) {
  scopes.push_back({step, isLoop, builder.saveInsertionPoint(), {}});
  builder.setInsertionPointToEnd(&body.front());
}

void BufferTable::leave() {
  builder.restoreInsertionPoint(scopes.back().outer);
  scopes.pop_back();
}

//===-- Checks --------------------------------------------------------------------------------------------------===//

LogicalResult BufferTable::check(Operation *op, Value value, const Twine &what) {
  RankedTensorType tensor = getBorderType(value.getType());
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return op->emitOpError("expected ") << what << " to be a ranked tensor of numbers or a number, but got "
                                        << value.getType();
  if (tensor != value.getType())
    return success();
  std::optional<SmallVector<AffineExpr>> dims = getDims(value);
  if (!dims)
    return op->emitOpError("expected '") << InlayDialect::kDimsAttr << "' for " << what << ", " << tensor;
  return checkSymbols(op, *dims, what);
}

LogicalResult BufferTable::checkAll(Operation *op, ValueRange values, StringRef what) {
  for (auto [number, value] : llvm::enumerate(values))
    if (failed(check(op, value, what + " " + Twine(number))))
      return failure();
  return success();
}

LogicalResult BufferTable::checkSymbols(Operation *op, ArrayRef<AffineExpr> sizes, const Twine &what) {
  unsigned used = 0;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr expr) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        used = std::max(used, symbol.getPosition() + 1);
    });
  if (used <= symbols.size())
    return success();
  return op->emitOpError("expected ") << what << " to use the " << symbols.size() << " symbols of '"
                                      << func.getSymName() << "', but got "
                                      << makeDimsAttr(func.getContext(), used, sizes);
}

//===-- Declarations --------------------------------------------------------------------------------------------===//

OpBuilder BufferTable::declarations() {
  // The buffers of a body are declared before the program's step that contains the body.
  return scopes.size() == 1 ? builder : OpBuilder(scopes[1].step);
}

/// The value must have passed `check`.
plan::BufferType BufferTable::getType(Value value, Space space) {
  RankedTensorType tensor = getBorderType(value.getType());
  AffineMapAttr dims;
  if (!tensor.hasStaticShape())
    dims = describeDims(value, symbols.size());
  return plan::BufferType::get(func.getContext(), tensor, space, dims);
}

static StringRef getLabel(Value value, StringRef otherwise) {
  StringRef name = getLocationName(value.getLoc());
  return name.empty() ? otherwise : name;
}

Value BufferTable::declareInput(BlockArgument argument) {
  std::string otherwise = "argument " + std::to_string(argument.getArgNumber());
  OpBuilder declare = declarations();
  Value buffer = plan::InputOp::create(declare, argument.getLoc(), getType(argument, Space::host),
                                       argument.getArgNumber(), getLabel(argument, otherwise));
  set(argument, buffer);
  return buffer;
}

Value BufferTable::declareState(BlockArgument argument, unsigned number, Space space) {
  OpBuilder declare = declarations();
  Value buffer = plan::StateOp::create(declare, argument.getLoc(), getType(argument, space), number,
                                       getLabel(argument, "state " + std::to_string(number)));
  set(argument, buffer);
  return buffer;
}

Value BufferTable::declareOutput(OpOperand &result) {
  OpBuilder declare = declarations();
  Value buffer =
      plan::OutputOp::create(declare, result.get().getLoc(), getType(result.get(), Space::host),
                             result.getOperandNumber(), "result " + std::to_string(result.getOperandNumber()));
  request(result.get(), buffer);
  return buffer;
}

Value BufferTable::declareTemporary(Value value, Space space) {
  OpBuilder declare = declarations();
  return plan::TemporaryOp::create(declare, value.getLoc(), getType(value, space), getLabel(value, "value"));
}

Value BufferTable::declareBytes(Location loc, AffineExpr count, const Twine &name) {
  OpBuilder declare = declarations();
  auto constant = dyn_cast<AffineConstantExpr>(count);
  auto tensor = RankedTensorType::get({constant ? constant.getValue() : ShapedType::kDynamic}, declare.getI8Type());
  AffineMapAttr dims = constant ? AffineMapAttr() : makeDimsAttr(func.getContext(), symbols.size(), count);
  auto type = plan::BufferType::get(func.getContext(), tensor, Space::host, dims);
  return plan::TemporaryOp::create(declare, loc, type, name.str());
}

//===-- Buffers of values ---------------------------------------------------------------------------------------===//

/// Returns the elements of a constant; those of a scalar are a tensor of rank 0. Returns null if `value` is not a
/// constant.
static ElementsAttr findConstant(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return nullptr;
  if (auto elements = dyn_cast<ElementsAttr>(attribute))
    return elements;
  RankedTensorType type = getBorderType(value.getType());
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return DenseElementsAttr::get(type, number.getValue().sextOrTrunc(type.getElementTypeBitWidth()));
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return DenseElementsAttr::get(type, number.getValue());
  return nullptr;
}

/// Equal constants with the same order share a buffer.
Value BufferTable::getConstant(Value value, ElementsAttr attribute, Space space, DenseI64ArrayAttr order) {
  Value &buffer = constants[{attribute, static_cast<unsigned>(space), order}];
  if (buffer)
    return buffer;
  OpBuilder declare = declarations();
  auto constant =
      plan::ConstantOp::create(declare, value.getLoc(), getType(value, space), attribute, getLabel(value, "constant"));
  if (order)
    constant->setAttr(plan::kConstantOrderAttr, order);
  return buffer = constant;
}

Value BufferTable::getInOrder(Value value, DenseI64ArrayAttr order) {
  if (!order || order.empty())
    return get(value, Space::device);
  ElementsAttr constant = findConstant(value);
  return constant ? getConstant(value, constant, Space::device, order) : Value();
}

std::pair<unsigned, Value> BufferTable::find(Value value, Space space) const {
  for (unsigned depth = scopes.size(); depth-- > 0;)
    if (Value buffer = scopes[depth].buffers.lookup({value, static_cast<unsigned>(space)}))
      return {depth, buffer};
  return {0, nullptr};
}

Value BufferTable::get(Value value, Space space) {
  if (ElementsAttr constant = findConstant(value))
    return getConstant(value, constant, space);
  if (Value known = find(value, space).second)
    return known;
  auto [made, other] = find(value, space == Space::host ? Space::device : Space::host);
  unsigned depth = scopes.size() - 1;
  while (depth > made && scopes[depth].isLoop)
    --depth;
  Value wanted = declareTemporary(value, space);
  OpBuilder::InsertionGuard guard(builder);
  if (depth + 1 < scopes.size())
    builder.setInsertionPoint(scopes[depth + 1].step);
  // A copy to the device belongs to the segment that reads the value there, a copy back to the segment that computed
  // it.
  copy(value.getLoc(), other, wanted, space == Space::device ? segment : getMaker(value));
  scopes[depth].buffers[{value, static_cast<unsigned>(space)}] = wanted;
  return wanted;
}

SmallVector<Value> BufferTable::getAll(ValueRange values, Space space) {
  return llvm::map_to_vector(values, [&](Value value) { return get(value, space); });
}

Value BufferTable::getAnywhere(Value value, Space preferred) {
  Space other = preferred == Space::host ? Space::device : Space::host;
  bool isElsewhere = !findConstant(value) && !find(value, preferred).second && find(value, other).second;
  return get(value, isElsewhere ? other : preferred);
}

Value BufferTable::findAnywhere(Value value) const {
  Value found = find(value, Space::host).second;
  return found ? found : find(value, Space::device).second;
}

Value BufferTable::define(Value value, Space space) {
  Value requested = findRequest(value);
  Value buffer = requested && getSpace(requested) == space ? requested : declareTemporary(value, space);
  set(value, buffer);
  makers[value] = segment;
  return buffer;
}

SmallVector<Value> BufferTable::defineAll(ValueRange values, Space space) {
  return llvm::map_to_vector(values, [&](Value value) { return define(value, space); });
}

void BufferTable::set(Value value, Value buffer) {
  scopes.back().buffers[{value, static_cast<unsigned>(getSpace(buffer))}] = buffer;
}

void BufferTable::copy(Location loc, Value from, Value to, Attribute number) {
  if (from != to)
    mark(plan::CopyOp::create(builder, loc, from, to), number);
}

void BufferTable::mark(Operation *step, Attribute number) const {
  if (number)
    step->setAttr(plan::kSegmentNumberAttr, number);
}
