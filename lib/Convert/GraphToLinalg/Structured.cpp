// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the helpers that all patterns of this folder share: generics, casts of scalars, and arithmetic on
// sizes. It has no pattern. The scalar functions of pointwise ops are in Dialect/Inlay/IR/PointwiseScalars.cpp.

#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>

using namespace mlir;
using namespace inlay;

//===-- Generics ------------------------------------------------------------------------------------------------===//

static Value createGeneric(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                           ArrayRef<utils::IteratorType> iterators, ScalarBody body) {
  // Without elements there is nothing to compute or to accumulate.
  auto isEmpty = [](Value tensor) { return llvm::is_contained(tensorType(tensor).getShape(), 0); };
  if (isEmpty(init) || llvm::any_of(inputs, isEmpty))
    return init;
  auto emitBody = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
    linalg::YieldOp::create(nested, nestedLoc, body(nested, nestedLoc, args));
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, iterators, emitBody).getResult(0);
}

Value inlay::createPointwise(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps,
                             ArrayRef<OpFoldResult> sizes, Type element, ScalarBody body) {
  Value init = tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  // The body does not get the argument for the result, which has no value yet.
  auto inputBody = [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
    return body(nested, nestedLoc, args.drop_back());
  };
  return createGeneric(builder, loc, inputs, allMaps, init, iterators, inputBody);
}

Value inlay::createReduction(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                             ScalarBody body) {
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < maps.back().getNumDims(); ++loop)
    iterators.push_back(maps.back().isFunctionOfDim(loop) ? utils::IteratorType::parallel
                                                          : utils::IteratorType::reduction);
  return createGeneric(builder, loc, inputs, maps, init, iterators, body);
}

Value inlay::createFilled(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes, TypedAttr value) {
  Value init = tensor::EmptyOp::create(builder, loc, sizes, value.getType());
  Value scalar = arith::ConstantOp::create(builder, loc, value);
  return linalg::FillOp::create(builder, loc, scalar, init).getResult(0);
}

Value inlay::createStart(OpBuilder &builder, Location loc, Value bias, AffineMap map, ArrayRef<OpFoldResult> sizes,
                         Type element) {
  if (!bias)
    return createFilled(builder, loc, sizes, cast<TypedAttr>(builder.getZeroAttr(element)));
  return createPointwise(builder, loc, bias, map, sizes, element,
                         [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                           return castScalar(nested, nestedLoc, args[0], element);
                         });
}

Value inlay::castElements(OpBuilder &builder, Location loc, Value tensor, Type element) {
  RankedTensorType type = tensorType(tensor);
  if (type.getElementType() == element)
    return tensor;
  return createPointwise(builder, loc, tensor, builder.getMultiDimIdentityMap(type.getRank()),
                         getSizes(builder, loc, tensor), element,
                         [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
                           return castScalar(nested, nestedLoc, args[0], element);
                         });
}

Value inlay::splitDim(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t groups) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  Sizes sizes;
  SmallVector<ReassociationIndices> parts;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    int64_t next = shape.size();
    parts.push_back({next});
    if (static_cast<int64_t>(i) == dim) {
      parts.back().push_back(next + 1);
      shape.append({groups, size / groups});
      sizes.append({builder.getIndexAttr(groups), builder.getIndexAttr(size / groups)});
    } else {
      shape.push_back(size);
      sizes.push_back(getSize(builder, loc, value, i));
    }
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, parts, sizes);
}

Value inlay::mergeDim(OpBuilder &builder, Location loc, Value value, int64_t dim) {
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i < tensorType(value).getRank(); ++i) {
    if (i == dim + 1)
      parts.back().push_back(i);
    else
      parts.push_back({i});
  }
  return tensor::CollapseShapeOp::create(builder, loc, value, parts);
}

//===-- Maps and sizes ------------------------------------------------------------------------------------------===//

AffineMap inlay::makeMap(MLIRContext *context, unsigned loops, ArrayRef<AffineExpr> exprs) {
  return AffineMap::get(loops, 0, exprs, context);
}

AffineMap inlay::broadcastMap(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<OpFoldResult> sizes) {
  unsigned offset = sizes.size() - shape.size();
  SmallVector<AffineExpr> exprs;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    bool repeated = dim == 1 && !isConstantIntValue(sizes[offset + i], 1);
    exprs.push_back(repeated ? getAffineConstantExpr(0, context) : getAffineDimExpr(offset + i, context));
  }
  return makeMap(context, sizes.size(), exprs);
}

AffineMap inlay::dropLoops(MLIRContext *context, unsigned loops, ArrayRef<int64_t> dropped) {
  SmallVector<AffineExpr> exprs;
  for (unsigned loop = 0; loop < loops; ++loop)
    if (!llvm::is_contained(dropped, loop))
      exprs.push_back(getAffineDimExpr(loop, context));
  return makeMap(context, loops, exprs);
}

/// Returns the product of dims `group` of `value`.
static OpFoldResult multiplySizes(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> group) {
  OpFoldResult product = builder.getIndexAttr(1);
  for (int64_t dim : group) {
    OpFoldResult size = getSize(builder, loc, value, dim);
    if (isConstantIntValue(product, 1))
      product = size;
    else if (!isConstantIntValue(size, 1))
      product = arith::MulIOp::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, product),
                                      getValueOrCreateConstantIndexOp(builder, loc, size))
                    .getResult();
  }
  return product;
}

OpFoldResult inlay::getSize(OpBuilder &builder, Location loc, Value value, int64_t dim) {
  if (!tensorType(value).isDynamicDim(dim))
    return builder.getIndexAttr(tensorType(value).getDimSize(dim));
  if (std::optional<SmallVector<AffineExpr>> dims = getDims(value))
    return materializeExpr(builder, loc, (*dims)[dim]);
  // The value was created by another pattern.
  Operation *op = value.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return getSize(builder, loc, cast.getSource(), dim);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder)[dim];
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    return multiplySizes(builder, loc, collapse.getSrc(), collapse.getReassociationIndices()[dim]);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op); slice && slice.getDroppedDims().none())
    return slice.getMixedSizes()[dim];
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return getSize(builder, loc, insert.getDest(), dim);
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(op))
    return getSize(builder, loc, structured.getDpsInits()[cast<OpResult>(value).getResultNumber()], dim);
  return tensor::getMixedSize(builder, loc, value, dim);
}

Sizes inlay::getSizes(OpBuilder &builder, Location loc, Value value) {
  Sizes sizes;
  for (int64_t dim = 0, rank = tensorType(value).getRank(); dim < rank; ++dim)
    sizes.push_back(getSize(builder, loc, value, dim));
  return sizes;
}

OpFoldResult inlay::addSizes(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return builder.getIndexAttr(*left + *right);
  if (left == 0 || right == 0)
    return left == 0 ? rhs : lhs;
  return arith::AddIOp::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, lhs),
                               getValueOrCreateConstantIndexOp(builder, loc, rhs))
      .getResult();
}

Value inlay::castSize(OpBuilder &builder, Location loc, OpFoldResult size, Type type) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, *known));
  return arith::IndexCastOp::create(builder, loc, type, cast<Value>(size));
}

Sizes inlay::broadcastSizes(OpBuilder &builder, Location loc, ValueRange values, unsigned dropBack) {
  int64_t rank = 0;
  for (Value value : values)
    rank = std::max(rank, tensorType(value).getRank());
  Sizes sizes(rank - dropBack, builder.getIndexAttr(1));
  for (Value value : values) {
    RankedTensorType type = tensorType(value);
    for (int64_t dim = 0, end = type.getRank() - dropBack; dim < end; ++dim) {
      OpFoldResult &size = sizes[rank - type.getRank() + dim];
      // A static size takes precedence over a dynamic size, and both take precedence over 1.
      if (!type.isDynamicDim(dim) && type.getDimSize(dim) != 1)
        size = builder.getIndexAttr(type.getDimSize(dim));
      else if (type.isDynamicDim(dim) && isConstantIntValue(size, 1))
        size = getSize(builder, loc, value, dim);
    }
  }
  return sizes;
}

//===-- Scalars -------------------------------------------------------------------------------------------------===//

Type inlay::accumulatorType(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext())
                                                                         : element;
}

Value inlay::scalarConstant(OpBuilder &builder, Location loc, Type type, double value) {
  TypedAttr attr;
  if (isa<FloatType>(type))
    attr = builder.getFloatAttr(type, value);
  else
    attr = builder.getIntegerAttr(type, static_cast<int64_t>(value));
  return arith::ConstantOp::create(builder, loc, attr);
}

static Value castFloat(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from != 32 && to != 32 && (from == 16 || to == 16)) { // Casts go through f32.
    value = castFloat(builder, loc, value, builder.getF32Type());
    from = 32;
  }
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

static Value castInteger(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (isa<FloatType>(type)) {
    Type wide = accumulatorType(type);
    Value number = from.isInteger(1) ? arith::UIToFPOp::create(builder, loc, wide, value).getResult()
                                     : arith::SIToFPOp::create(builder, loc, wide, value).getResult();
    return wide == type ? number : castFloat(builder, loc, number, type);
  }
  if (from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// Truncates as x86 does: to 32 or 64 bits, where values that do not fit become the smallest integer, and then to the
/// type.
static Value truncateFloat(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = accumulatorType(value.getType());
  if (from != value.getType())
    value = castFloat(builder, loc, value, from);
  unsigned width = std::max(32u, type.getIntOrFloatBitWidth());
  Type whole = builder.getIntegerType(width);
  Value bound = scalarConstant(builder, loc, from, std::ldexp(1.0, static_cast<int>(width) - 1));
  Value lowest = arith::NegFOp::create(builder, loc, bound), zero = scalarConstant(builder, loc, from, 0.0);
  Value enough = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, value, lowest);
  Value fitting = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, value, bound);
  Value fits = arith::AndIOp::create(builder, loc, enough, fitting);
  Value safe = arith::SelectOp::create(builder, loc, fits, value, zero);
  Value smallest = arith::ConstantOp::create(builder, loc, lowestValue(whole));
  Value number = arith::FPToSIOp::create(builder, loc, whole, safe);
  number = arith::SelectOp::create(builder, loc, fits, number, smallest);
  return whole == type ? number : castInteger(builder, loc, number, type);
}

Value inlay::castScalar(OpBuilder &builder, Location loc, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (type.isInteger(1)) {
    Value zero = scalarConstant(builder, loc, from, 0.0);
    if (isa<FloatType>(from)) // NaN is true.
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (!isa<FloatType>(from))
    return castInteger(builder, loc, value, type);
  if (isa<FloatType>(type))
    return castFloat(builder, loc, value, type);
  return truncateFloat(builder, loc, value, type);
}

Value inlay::addScalars(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

Value inlay::mulScalars(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  return arith::MulIOp::create(builder, loc, lhs, rhs);
}

Value inlay::multiplyAdd(OpBuilder &builder, Location loc, ValueRange args) {
  Type sum = args[2].getType();
  Value lhs = castScalar(builder, loc, args[0], sum), rhs = castScalar(builder, loc, args[1], sum);
  return addScalars(builder, loc, args[2], mulScalars(builder, loc, lhs, rhs));
}

Value inlay::maxScalars(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  return arith::MaxSIOp::create(builder, loc, lhs, rhs);
}

Value inlay::minScalars(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  return arith::MinSIOp::create(builder, loc, lhs, rhs);
}

TypedAttr inlay::lowestValue(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  unsigned width = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element, width == 1 ? APInt::getZero(1) : APInt::getSignedMinValue(width));
}

TypedAttr inlay::highestValue(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics()));
  unsigned width = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element, width == 1 ? APInt::getAllOnes(1) : APInt::getSignedMaxValue(width));
}

Value inlay::readUnpermuted(Value value, AffineMap &map) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return value;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  if (!maps[0].isPermutation() || !maps[1].isIdentity() || yielded != op.getBody()->getArgument(0))
    return value;
  map = maps[0].compose(map);
  return op.getInputs()[0];
}
