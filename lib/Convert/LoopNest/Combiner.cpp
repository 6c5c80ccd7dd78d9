// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes the op that combines the partial results of a reduction, and its neutral element. LaneReduction.cpp
// emits the reduction.

#include "inlay/Convert/LoopNest/Combiner.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace inlay;

TypedAttr inlay::getNeutral(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  Builder builder(combiner->getContext());
  if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    if (isa<arith::AddFOp>(combiner))
      return builder.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(combiner))
      return builder.getFloatAttr(type, APFloat::getOne(semantics));
    if (isa<arith::MaximumFOp>(combiner))
      return builder.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    if (isa<arith::MinimumFOp>(combiner))
      return builder.getFloatAttr(type, APFloat::getInf(semantics));
    return nullptr;
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<arith::AddIOp>(combiner))
    return builder.getIntegerAttr(type, APInt::getZero(width));
  if (isa<arith::MulIOp>(combiner))
    return builder.getIntegerAttr(type, APInt(width, 1));
  if (isa<arith::MaxSIOp>(combiner))
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  if (isa<arith::MinSIOp>(combiner))
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  return nullptr;
}

Operation *inlay::findCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || !op.getNumReductionLoops())
    return nullptr;
  SmallVector<Operation *, 4> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1)
    return nullptr;
  Operation *combiner = combiners.front();
  return linalg::getCombinerOpKind(combiner) && getNeutral(combiner) ? combiner : nullptr;
}
