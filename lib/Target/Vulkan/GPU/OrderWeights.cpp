// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the order of dims of each constant weight of a segment. The runtime copies weights into that order:
// Runtime/Core/Plan/ConstantOrder.cpp.

#include "OrderWeights.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

using namespace mlir;
using namespace inlay;

/// Returns true if dot products compute the product of rows of `input` and a matrix. They read weights along the sum,
/// whose terms are contiguous.
static bool usesDotProducts(Value input, const DotProductProfile &dots) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type || !type.hasStaticShape() || type.getRank() == 0)
    return false;
  int64_t terms = type.getShape().back();
  return terms > 0 && shouldUseDotProducts(type.getNumElements() / terms, terms, dots);
}

/// Returns the order of dims in which the op of `use` reads a weight fastest, or an empty order if the current order is
/// best.
static SmallVector<int64_t> chooseOrder(OpOperand &use, const DotProductProfile &dots) {
  constexpr int64_t kVector = 4;
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  bool is32Bit = type && (type.getElementType().isF32() || type.getElementType().isInteger(32));
  auto conv = dyn_cast<ConvOp>(use.getOwner());
  if (use.getOperandNumber() != 1 || (!(conv && conv.getGroups() == 1) && !isa<LinearOp>(use.getOwner())))
    return {};
  if (auto linear = dyn_cast<LinearOp>(use.getOwner()); linear && usesDotProducts(linear.getInput(), dots))
    return {};
  if (!is32Bit || !type.hasStaticShape() || type.getDimSize(0) % kVector)
    return {};
  SmallVector<int64_t> order; // Kernel dims, input channels, output channels.
  for (int64_t dim = 2; dim < type.getRank(); ++dim)
    order.push_back(dim);
  order.append({1, 0});
  return order;
}

/// Changes the type of the argument `weight` to have its dims in `order`, and permutes it back for its users.
static void putInOrder(BlockArgument weight, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<int64_t> shape, back(order.size());
  for (auto [place, dim] : llvm::enumerate(order)) {
    shape.push_back(type.getDimSize(dim));
    back[dim] = place;
  }
  weight.setType(type.clone(shape));
  OpBuilder builder = OpBuilder::atBlockBegin(weight.getOwner());
  auto permute = PermuteOp::create(builder, weight.getLoc(), type, weight, builder.getDenseI64ArrayAttr(back));
  weight.replaceAllUsesExcept(permute.getResult(), permute);
}

/// Makes the function's type that of its arguments.
static void updateType(func::FuncOp segment) {
  Builder builder(segment.getContext());
  segment.setType(builder.getFunctionType(segment.getBody().getArgumentTypes(), segment.getResultTypes()));
}

void inlay::orderWeights(func::FuncOp segment, const DotProductProfile &dots) {
  Builder builder(segment.getContext());
  for (BlockArgument argument : segment.getArguments()) {
    if (!segment.getArgAttr(argument.getArgNumber(), plan::kConstantArgumentAttr) || !argument.hasOneUse())
      continue;
    SmallVector<int64_t> order = chooseOrder(*argument.use_begin(), dots);
    if (order.empty())
      continue;
    putInOrder(argument, order);
    segment.setArgAttr(argument.getArgNumber(), plan::kConstantOrderAttr, builder.getDenseI64ArrayAttr(order));
  }
  updateType(segment);
}

//===-- Dequantized weights -------------------------------------------------------------------------------------===//

/// Returns true if the runtime can transpose `value`: a matrix of constants that only one op uses.
static bool canTranspose(func::FuncOp segment, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.hasOneUse() && segment.getArgAttr(argument.getArgNumber(), plan::kConstantArgumentAttr) &&
         !segment.getArgAttr(argument.getArgNumber(), plan::kConstantOrderAttr) &&
         cast<RankedTensorType>(value.getType()).hasStaticShape();
}

/// Returns the transpose of `matrix`, or null if that is not a dequantized matrix, or if packed codes would have to be
/// rearranged.
static Value transposeDequantized(func::FuncOp segment, Value matrix) {
  auto permute = matrix.getDefiningOp<PermuteOp>();
  if (permute && permute.getInput().getDefiningOp<DequantizeOp>() && permute.getDims()[0] % 2 != 0)
    return permute.getInput();
  auto op = matrix.getDefiningOp<DequantizeOp>();
  if (!op || !op->hasOneUse() || op.getBits() != 8 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return canTranspose(segment, operand); }))
    return nullptr;
  auto transpose = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.clone({type.getDimSize(1), type.getDimSize(0)});
  };
  OpBuilder builder(op);
  for (Value operand : op->getOperands()) {
    operand.setType(transpose(operand));
    segment.setArgAttr(cast<BlockArgument>(operand).getArgNumber(), plan::kConstantOrderAttr,
                       builder.getDenseI64ArrayAttr({1, 0}));
  }
  auto clone = cast<DequantizeOp>(builder.clone(*op));
  clone.getResult().setType(transpose(matrix));
  clone.setBlock({op.getBlock()[1], op.getBlock()[0]});
  return clone.getResult();
}

void inlay::orderPackedWeights(func::FuncOp segment, const DotProductProfile &packedDots) {
  for (auto product : llvm::make_early_inc_range(segment.getOps<MatmulOp>())) {
    auto rhs = cast<RankedTensorType>(product.getRhs().getType());
    if (rhs.getRank() != 2 || !usesDotProducts(product.getLhs(), packedDots))
      continue;
    Operation *before = product.getRhs().getDefiningOp();
    Value weight = transposeDequantized(segment, product.getRhs());
    if (!weight)
      continue;
    OpBuilder builder(product);
    auto linear = LinearOp::create(builder, product.getLoc(), product.getType(), product.getLhs(), weight, Value());
    product.replaceAllUsesWith(linear.getResult());
    product.erase();
    if (before->use_empty())
      before->erase();
  }
  updateType(segment);
}
