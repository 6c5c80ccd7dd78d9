// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns buffers that a kernel accesses in vectors into buffers of vectors, and buffers that it reads in words into
// buffers of words. TexelBuffers.cpp handles buffers that are read as texels.

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

/// If `value` is a product by a constant multiple of `width`, returns the other factor and that multiple.
static std::optional<std::pair<Value, int64_t>> matchScaled(Value value, int64_t width) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor = product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  if (!factor || *factor % width)
    return std::nullopt;
  return std::pair(product.getLhs(), *factor);
}

/// Returns true if `value` is known to be a multiple of `width`.
static bool isMultiple(Value value, int64_t width) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known % width == 0;
  if (matchScaled(value, width))
    return true;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs(), width) && isMultiple(sum.getRhs(), width);
  if (auto quotient = value.getDefiningOp<arith::DivUIOp>()) {
    std::optional<int64_t> divisor = getConstantIntValue(quotient.getRhs());
    return divisor && *divisor > 0 && isMultiple(quotient.getLhs(), *divisor * width);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == value && isMultiple(loop.getLowerBound(), width) &&
         isMultiple(loop.getStep(), width);
}

/// Divides `element`, a multiple of `width`. dividesTerms: true to divide the terms of a sum one by one where that is
/// exact. Drivers of GPUs do not find out that a whole sum is a multiple.
static Value divide(OpBuilder &builder, Location loc, Value element, int64_t width, bool dividesTerms) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  if (std::optional<int64_t> known = getConstantIntValue(element); known && *known % width == 0)
    return constant(*known / width);
  if (auto scaled = matchScaled(element, width); scaled && dividesTerms) {
    auto [value, factor] = *scaled;
    return factor == width ? value : arith::MulIOp::create(builder, loc, value, constant(factor / width)).getResult();
  }
  auto sum = element.getDefiningOp<arith::AddIOp>();
  if (sum && dividesTerms && (isMultiple(sum.getLhs(), width) || isMultiple(sum.getRhs(), width))) {
    Value lhs = divide(builder, loc, sum.getLhs(), width, dividesTerms);
    Value rhs = divide(builder, loc, sum.getRhs(), width, dividesTerms);
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  if (auto quotient = element.getDefiningOp<arith::DivUIOp>())
    if (std::optional<int64_t> divisor = getConstantIntValue(quotient.getRhs()); divisor && *divisor > 0)
      return arith::DivUIOp::create(builder, loc, quotient.getLhs(), constant(*divisor * width));
  return arith::DivUIOp::create(builder, loc, element, constant(width));
}

static LogicalResult replaceAccess(Operation *access, Value buffer, VectorType type, bool dividesTerms) {
  OpBuilder builder(access);
  Location loc = access->getLoc();
  if (auto load = dyn_cast<vector::LoadOp>(access); load && load.getType() == type) {
    Value index = divide(builder, loc, load.getIndices().front(), kWidth, dividesTerms);
    load.replaceAllUsesWith(memref::LoadOp::create(builder, loc, buffer, index).getResult());
  } else if (auto store = dyn_cast<vector::StoreOp>(access);
             store && store.getValueToStore().getType() == type && store.getBase() != store.getValueToStore()) {
    Value index = divide(builder, loc, store.getIndices().front(), kWidth, dividesTerms);
    memref::StoreOp::create(builder, loc, store.getValueToStore(), buffer, index);
  } else {
    return access->emitError("expected each access to a buffer of vectors to have the type ") << type;
  }
  access->erase();
  return success();
}

/// Makes the function's type that of its arguments.
static void updateType(gpu::GPUFuncOp func) {
  SmallVector<Type> types(func.getBody().getArgumentTypes());
  func.setType(FunctionType::get(func.getContext(), types, func.getFunctionType().getResults()));
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
  updateType(func);
  return success();
}

/// Returns true if `user` loads a vector that is used only as words.
static bool loadsWords(Operation *user) {
  return isa<vector::LoadOp>(user) && llvm::all_of(user->getUsers(), [](Operation *cast) {
           return isa<vector::BitCastOp>(cast) && getElementTypeOrSelf(cast->getResult(0).getType()).isInteger(32);
         });
}

/// Replaces a load from a buffer that has become `words`, of which each has `perWord` elements.
static void loadWords(vector::LoadOp load, Value words, int64_t perWord, bool dividesTerms) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  Value index = divide(builder, loc, load.getIndices().front(), perWord, dividesTerms);
  auto type = VectorType::get({load.getVectorType().getNumElements() / perWord}, builder.getI32Type());
  Value loaded = type.getNumElements() == 1
                     ? vector::FromElementsOp::create(builder, loc, type,
                                                      memref::LoadOp::create(builder, loc, words, index).getResult())
                           .getResult()
                     : vector::LoadOp::create(builder, loc, type, words, index).getResult();
  for (Operation *cast : llvm::make_early_inc_range(load->getUsers())) {
    cast->getResult(0).replaceAllUsesWith(loaded);
    cast->erase();
  }
  load.erase();
}

void inlay::makeWordBuffers(gpu::GPUFuncOp func, bool dividesTerms) {
  constexpr int64_t kWordBits = 32;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() != 1 || argument.use_empty() || !llvm::all_of(argument.getUsers(), loadsWords))
      continue;
    int64_t perWord = kWordBits / type.getElementTypeBitWidth();
    int64_t count = type.isDynamicDim(0) ? ShapedType::kDynamic : type.getDimSize(0) / perWord;
    SmallVector<Operation *> loads(argument.getUsers());
    argument.setType(MemRefType::get({count}, IntegerType::get(func.getContext(), kWordBits)));
    for (Operation *load : loads)
      loadWords(cast<vector::LoadOp>(load), argument, perWord, dividesTerms);
  }
  updateType(func);
}
