// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of ops that turn sizes into values, and the check of `sizes`, which several ops have.

#include "InferGraphOps.h"

using namespace mlir;
using namespace inlay;

LogicalResult inlay::checkSizes(OptLoc loc, StringRef op, AffineMapAttr sizes, ArrayRef<int64_t> numbers) {
  int64_t open = llvm::count_if(numbers, ShapedType::isDynamic);
  int64_t given = sizes ? sizes.getValue().getNumResults() : 0;
  if (sizes && sizes.getValue().getNumDims())
    return emitOptionalError(loc, "'", op, "' op expected 'sizes' to be a map without dims, but got ", sizes);
  if (open != given)
    return emitOptionalError(loc, "'", op, "' op expected 'sizes' to have a result for each of ", open,
                             " dynamic numbers, but got ", given);
  return success();
}

/// Checks the map of an op that takes a single number.
template <typename Op>
static LogicalResult checkNumber(OptLoc loc, AffineMap sizes) {
  if (sizes.getNumDims() || sizes.getNumResults() != 1)
    return reject<Op>(loc, "expected 'sizes' to be a map without dims and with one result, but got ",
                      AffineMapAttr::get(sizes));
  return success();
}

LogicalResult SizeOp::inferReturnTypes(MLIRContext *context, OptLoc loc, Adaptor op, Types &types) {
  if (failed(checkNumber<SizeOp>(loc, op.getSizes())))
    return failure();
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 64)));
  return success();
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *context, OptLoc loc, Adaptor op, Types &types) {
  if (failed(checkNumber<IotaOp>(loc, op.getSizes())))
    return failure();
  auto constant = dyn_cast<AffineConstantExpr>(op.getSizes().getResult(0));
  int64_t size = constant ? constant.getValue() : ShapedType::kDynamic;
  if (constant && size < 0)
    return reject<IotaOp>(loc, "expected at least 0 numbers, but got ", size);
  return yieldType<IotaOp>(loc, {size}, IntegerType::get(context, 64), types);
}
