// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

Value ReductionLoops::openLoop(Value from, Value to, Value step, SmallVector<Value> before) {
  auto op = scf::ForOp::create(builder, loc, from, to, step, values);
  loops.push_back({op, std::move(before)});
  values = llvm::to_vector_of<Value>(op.getRegionIterArgs());
  builder.setInsertionPointToEnd(op.getBody());
  return op.getInductionVar();
}

Value ReductionLoops::open(Value from, Value to, int64_t step, int64_t cut) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  if (!cut)
    return openLoop(from, to, constant(step), {});
  Value together = constant(step * cut);
  Value first = openLoop(from, to, together, {});
  Value reached = arith::AddIOp::create(builder, loc, first, together);
  Value last = arith::MinUIOp::create(builder, loc, reached, to);
  SmallVector<Value> before = std::move(values);
  values = llvm::map_to_vector(before, [&](Value value) { return createNegativeZero(builder, loc, value.getType()); });
  return openLoop(first, last, constant(step), std::move(before));
}

void ReductionLoops::close(ValueRange results) {
  values = llvm::to_vector(results);
  for (bool isPart = true; isPart;) {
    Loop loop = loops.pop_back_val();
    isPart = !loop.before.empty();
    scf::YieldOp::create(builder, loc, values);
    builder.setInsertionPointAfter(loop.op);
    values = llvm::to_vector_of<Value>(loop.op.getResults());
    for (auto [value, before] : llvm::zip(values, loop.before))
      value = arith::AddFOp::create(builder, loc, before, value);
  }
}

void ReductionLoops::closeAll(ValueRange results) {
  values = llvm::to_vector(results);
  while (!loops.empty())
    close(llvm::to_vector(values));
}
