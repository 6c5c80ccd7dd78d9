// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the order of dims of each constant weight of a segment. The runtime copies weights into that order:
// Runtime/Core/Plan/ConstantOrder.cpp.

#include "OrderWeights.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

using namespace mlir;
using namespace inlay;

/// Returns true if dot products compute the linear layer. They read weights along the sum, whose terms are contiguous.
static bool usesDotProducts(LinearOp op, const DotProductProfile &dots) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
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
  if (auto linear = dyn_cast<LinearOp>(use.getOwner()); linear && usesDotProducts(linear, dots))
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
  segment.setType(builder.getFunctionType(segment.getBody().getArgumentTypes(), segment.getResultTypes()));
}
