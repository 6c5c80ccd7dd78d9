// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns buffers that a kernel accesses in vectors into buffers of vectors. TexelBuffers.cpp handles buffers that are
// read as texels.

#include "VectorBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

/// Elements of a vector.
static constexpr int64_t kWidth = 4;

static bool isVectorAccess(Operation *user) { return isa<vector::LoadOp, vector::StoreOp>(user); }

/// If `value` is a product by a constant multiple of the width, returns the other factor and that multiple.
static std::optional<std::pair<Value, int64_t>> matchScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor = product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  if (!factor || *factor % kWidth)
    return std::nullopt;
  return std::pair(product.getLhs(), *factor);
}

/// Returns true if `value` is known to be a multiple of the width.
static bool isMultiple(Value value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known % kWidth == 0;
  if (matchScaled(value))
    return true;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs()) && isMultiple(sum.getRhs());
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == value && isMultiple(loop.getLowerBound()) && isMultiple(loop.getStep());
}

/// Returns the number of the vector that starts at `element`, a multiple of the width. dividesTerms: true to divide the
/// terms of a sum one by one where that is exact. Drivers of GPUs do not find out that a whole sum is a multiple.
static Value countVectors(OpBuilder &builder, Location loc, Value element, bool dividesTerms) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  if (std::optional<int64_t> known = getConstantIntValue(element); known && *known % kWidth == 0)
    return constant(*known / kWidth);
  if (auto scaled = matchScaled(element); scaled && dividesTerms) {
    auto [value, factor] = *scaled;
    return factor == kWidth ? value : arith::MulIOp::create(builder, loc, value, constant(factor / kWidth)).getResult();
  }
  auto sum = element.getDefiningOp<arith::AddIOp>();
  if (sum && dividesTerms && (isMultiple(sum.getLhs()) || isMultiple(sum.getRhs()))) {
    Value lhs = countVectors(builder, loc, sum.getLhs(), dividesTerms);
    Value rhs = countVectors(builder, loc, sum.getRhs(), dividesTerms);
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  return arith::DivUIOp::create(builder, loc, element, constant(kWidth));
}

static LogicalResult replaceAccess(Operation *access, Value buffer, VectorType type, bool dividesTerms) {
  OpBuilder builder(access);
  Location loc = access->getLoc();
  if (auto load = dyn_cast<vector::LoadOp>(access); load && load.getType() == type) {
    Value index = countVectors(builder, loc, load.getIndices().front(), dividesTerms);
    load.replaceAllUsesWith(memref::LoadOp::create(builder, loc, buffer, index).getResult());
  } else if (auto store = dyn_cast<vector::StoreOp>(access);
             store && store.getValueToStore().getType() == type && store.getBase() != store.getValueToStore()) {
    Value index = countVectors(builder, loc, store.getIndices().front(), dividesTerms);
    memref::StoreOp::create(builder, loc, store.getValueToStore(), buffer, index);
  } else {
    return access->emitError("expected each access to a buffer of vectors to have the type ") << type;
  }
  access->erase();
  return success();
}

LogicalResult inlay::makeVectorBuffers(gpu::GPUFuncOp func, bool dividesTerms) {
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || llvm::none_of(argument.getUsers(), isVectorAccess))
      continue;
    if (type.getRank() != 1)
      return func.emitError("expected a buffer that is accessed in vectors to have one dim, but got ") << type;
    auto vector = VectorType::get({kWidth}, type.getElementType());
    SmallVector<Operation *> users(argument.getUsers());
    int64_t count = type.isDynamicDim(0) ? ShapedType::kDynamic : type.getDimSize(0) / kWidth;
    argument.setType(MemRefType::get({count}, vector));
    for (Operation *user : users)
      if (failed(replaceAccess(user, argument, vector, dividesTerms)))
        return failure();
  }
  SmallVector<Type> types(func.getBody().getArgumentTypes());
  func.setType(FunctionType::get(func.getContext(), types, func.getFunctionType().getResults()));
  return success();
}
