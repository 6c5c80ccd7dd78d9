// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads size computations in the IR back into expressions of symbols. Dialect/Inlay/IR/Symbols.cpp defines,
// simplifies and emits these expressions.

#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay;

using Dims = SmallVector<AffineExpr>;

/// Reads the operands of a sum, product or quotient and combines them.
static AffineExpr readBinary(Operation *op, function_ref<AffineExpr(AffineExpr, AffineExpr)> join) {
  AffineExpr lhs = readExpr(op->getOperand(0)), rhs = readExpr(op->getOperand(1));
  return lhs && rhs ? join(lhs, rhs) : AffineExpr();
}

static AffineExpr readApply(affine::AffineApplyOp apply) {
  AffineMap map = apply.getAffineMap();
  Dims operands;
  for (Value operand : apply.getMapOperands())
    if (AffineExpr expr = readExpr(operand))
      operands.push_back(expr);
    else
      return nullptr;
  ArrayRef<AffineExpr> all(operands);
  return map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
}

static AffineExpr readDim(memref::DimOp dim) {
  std::optional<int64_t> number = dim.getConstantIndex();
  std::optional<Dims> dims = getBufferDims(dim.getSource());
  if (!number || !dims || *number < 0 || *number >= static_cast<int64_t>(dims->size()))
    return nullptr;
  return (*dims)[*number];
}

AffineExpr inlay::readExpr(Value index) {
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), index.getContext());
  Operation *op = index.getDefiningOp();
  if (!op)
    return nullptr;
  // Sizes are never negative, so signed and unsigned quotients are equal.
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<SymbolOp>([](auto symbol) { return getAffineSymbolExpr(symbol.getNumber(), symbol.getContext()); })
      .Case<affine::AffineApplyOp>([](auto apply) { return readApply(apply); })
      .Case<memref::DimOp>([](auto dim) { return readDim(dim); })
      .Case<arith::AddIOp>([](auto add) { return readBinary(add, [](auto lhs, auto rhs) { return lhs + rhs; }); })
      .Case<arith::SubIOp>([](auto sub) { return readBinary(sub, [](auto lhs, auto rhs) { return lhs - rhs; }); })
      .Case<arith::MulIOp>([](auto mul) { return readBinary(mul, [](auto lhs, auto rhs) { return lhs * rhs; }); })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [](auto div) { return readBinary(div, [](auto lhs, auto rhs) { return lhs.floorDiv(rhs); }); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto div) { return readBinary(div, [](auto lhs, auto rhs) { return lhs.ceilDiv(rhs); }); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [](auto rem) { return readBinary(rem, [](auto lhs, auto rhs) { return lhs % rhs; }); })
      .Default([](Operation *) { return AffineExpr(); });
}

AffineExpr inlay::readExpr(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return readExpr(value);
  return getAffineConstantExpr(*getConstantIntValue(size), size.getContext());
}

//===-- Buffers -------------------------------------------------------------------------------------------------===//

static std::optional<Dims> readAll(ArrayRef<OpFoldResult> sizes) {
  Dims dims;
  for (OpFoldResult size : sizes)
    dims.push_back(readExpr(size));
  return llvm::is_contained(dims, AffineExpr()) ? std::nullopt : std::optional<Dims>(dims);
}

static std::optional<Dims> collapseDims(memref::CollapseShapeOp collapse) {
  std::optional<Dims> from = getBufferDims(collapse.getSrc());
  if (!from)
    return std::nullopt;
  Dims dims;
  for (const ReassociationIndices &group : collapse.getReassociationIndices())
    dims.push_back(countElements(ArrayRef(*from).slice(group.front(), group.size()), collapse.getContext()));
  return dims;
}

/// Returns the dims of a subview without the dims that it drops.
static std::optional<Dims> sliceDims(memref::SubViewOp view) {
  std::optional<Dims> all = readAll(view.getMixedSizes());
  if (!all)
    return std::nullopt;
  llvm::SmallBitVector dropped = view.getDroppedDims();
  Dims dims;
  for (auto [number, dim] : llvm::enumerate(*all))
    if (!dropped.test(number))
      dims.push_back(dim);
  return dims;
}

std::optional<Dims> inlay::getBufferDims(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type)
    return std::nullopt;
  MLIRContext *context = type.getContext();
  if (type.hasStaticShape())
    return llvm::map_to_vector(type.getShape(), [&](int64_t dim) { return getAffineConstantExpr(dim, context); });
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    auto map = function ? function.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), InlayDialect::kDimsAttr)
                        : AffineMapAttr();
    if (!map || map.getValue().getNumResults() != type.getRank())
      return std::nullopt;
    return llvm::to_vector(map.getValue().getResults());
  }
  return llvm::TypeSwitch<Operation *, std::optional<Dims>>(memref.getDefiningOp())
      .Case<memref::AllocOp>([](auto alloc) { return readAll(alloc.getMixedSizes()); })
      .Case<memref::CollapseShapeOp>([](auto collapse) { return collapseDims(collapse); })
      .Case<memref::ExpandShapeOp>([](auto expand) { return readAll(expand.getMixedOutputShape()); })
      .Case<memref::SubViewOp>([](auto view) { return sliceDims(view); })
      .Case<memref::ReinterpretCastOp>([](auto cast) { return readAll(cast.getConstifiedMixedSizes()); })
      .Case<memref::CastOp>([](auto cast) { return getBufferDims(cast.getSource()); })
      .Default([](Operation *) { return std::nullopt; });
}

Value inlay::findRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

AffineExpr inlay::countElements(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  AffineExpr count = getAffineConstantExpr(1, context);
  for (AffineExpr dim : dims)
    count = count * dim;
  return count;
}
