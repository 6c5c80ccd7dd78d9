// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens and closes the loops of a reduction. TileEmitter.cpp emits their bodies, and LaneReduction.cpp joins the
// shares of lanes.

#include "inlay/Convert/LoopNest/ReductionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace inlay;

/// Returns -0.0, the neutral element of addition: 0.0 would turn a sum of -0.0 positive.
static Value createNegativeZero(OpBuilder &builder, Location loc, Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr zero = builder.getFloatAttr(element, APFloat::getZero(element.getFloatSemantics(), /*Negative=*/true));
  if (auto shaped = dyn_cast<ShapedType>(type))
    zero = DenseElementsAttr::get(shaped, Attribute(zero));
  return arith::ConstantOp::create(builder, loc, zero);
}

Value ReductionLoops::openLoop(Value from, Value to, int64_t step, SmallVector<Value> before) {
  Value distance = arith::ConstantIndexOp::create(builder, loc, step);
  auto op = scf::ForOp::create(builder, loc, from, to, distance, values);
  loops.push_back({op, std::move(before)});
  values = llvm::to_vector_of<Value>(op.getRegionIterArgs());
  builder.setInsertionPointToEnd(op.getBody());
  return op.getInductionVar();
}

/// Makes the accumulators start from zero. Returns those of the steps before.
SmallVector<Value> ReductionLoops::startBlock() {
  SmallVector<Value> before = std::move(values);
  values = llvm::map_to_vector(before, [&](Value value) { return createNegativeZero(builder, loc, value.getType()); });
  return before;
}

Value ReductionLoops::open(Value from, Value to, int64_t step, const SumCut &cut) {
  SmallVector<Value> before;
  Value block; // First step of the block.
  auto openInBlock = [&](int64_t distance) {
    Value index = openLoop(from, to, distance, std::move(before));
    return block && cut.isExact ? arith::AddIOp::create(builder, loc, block, index).getResult() : index;
  };
  for (int64_t steps : llvm::reverse(cut.blocks)) {
    block = openInBlock(step * steps);
    before = startBlock();
    if (steps == 1) {
      loops.push_back({nullptr, std::move(before)});
      return block;
    }
    Value size = arith::ConstantIndexOp::create(builder, loc, step * steps);
    if (cut.isExact) { // Drivers unroll loops with constant bounds.
      from = arith::ConstantIndexOp::create(builder, loc, 0);
      to = size;
    } else {
      from = block;
      to = arith::MinUIOp::create(builder, loc, arith::AddIOp::create(builder, loc, block, size), to);
    }
  }
  return openInBlock(step);
}

void ReductionLoops::close(ValueRange results) {
  values = llvm::to_vector(results);
  for (bool isBlock = true; isBlock;) {
    Loop loop = loops.pop_back_val();
    isBlock = !loop.before.empty();
    if (loop.op) {
      scf::YieldOp::create(builder, loc, values);
      builder.setInsertionPointAfter(loop.op);
      values = llvm::to_vector_of<Value>(loop.op.getResults());
    }
    for (auto [value, before] : llvm::zip(values, loop.before))
      value = arith::AddFOp::create(builder, loc, before, value);
  }
}

void ReductionLoops::closeAll(ValueRange results) {
  values = llvm::to_vector(results);
  while (!loops.empty())
    close(llvm::to_vector(values));
}
