// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of layout ops that add or replace elements.

#include "InferGraphOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

LogicalResult PadOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), value = tensorType(op.getValue());
  if (value.getRank() != 0 || value.getElementType() != input.getElementType())
    return reject<PadOp>(loc, "expected a value of rank 0 with the input's element type, but got ", value, " for ",
                         input);
  SmallVector<int64_t> shape(input.getShape()), numbers(op.getLow());
  llvm::append_range(numbers, op.getHigh());
  if (failed(checkSizes(loc, PadOp::getOperationName(), op.getSizesAttr(), numbers)))
    return failure();
  for (auto [name, amounts] : {std::pair<StringRef, ArrayRef<int64_t>>{"low", op.getLow()}, {"high", op.getHigh()}}) {
    if (amounts.size() != shape.size())
      return reject<PadOp>(loc, "expected one number of ", name, " per dim (", shape.size(), "), but got ",
                           amounts.size());
    for (auto [size, amount] : llvm::zip_equal(shape, amounts)) {
      if (ShapedType::isDynamic(amount)) {
        size = ShapedType::kDynamic;
        continue;
      }
      if (amount < 0)
        return reject<PadOp>(loc, "expected ", name, " of at least 0, but got ", amount);
      if (!ShapedType::isDynamic(size) && llvm::AddOverflow(size, amount, size))
        return reject<PadOp>(loc, "expected dims of less than 2^63, but got ", input, " and ", name, " of ", amount);
    }
  }
  return yieldType<PadOp>(loc, shape, input.getElementType(), types);
}

LogicalResult FlipOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  SmallVector<bool> seen(input.getRank(), false);
  for (int64_t dim : op.getDims()) {
    FailureOr<int64_t> normal = checkDim<FlipOp>(loc, dim, input);
    if (failed(normal))
      return failure();
    if (std::exchange(seen[*normal], true))
      return reject<FlipOp>(loc, "expected each dim once, but got dim ", *normal, " twice");
  }
  types.push_back(input);
  return success();
}

LogicalResult SliceScatterOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), source = tensorType(op.getSource());
  FailureOr<int64_t> dim = checkDim<SliceScatterOp>(loc, op.getDim(), input);
  if (failed(dim))
    return failure();
  if (int64_t step = op.getStep(); step < 1)
    return reject<SliceScatterOp>(loc, "expected a positive step, but got ", step);
  SmallVector<int64_t> shape(input.getShape());
  FailureOr<int64_t> size = inferSliced(loc, SliceScatterOp::getOperationName(), shape[*dim], op.getStart(),
                                        op.getEnd(), op.getStep(), op.getSizesAttr());
  if (failed(size))
    return failure();
  shape[*dim] = *size;
  bool fits = source.getElementType() == input.getElementType() && source.getRank() == input.getRank() &&
              llvm::all_of(llvm::zip(source.getShape(), shape),
                           [](auto pair) { return mayEqual(std::get<0>(pair), std::get<1>(pair)); });
  if (!fits)
    return reject<SliceScatterOp>(loc, "expected a source of dims [", ArrayRef<int64_t>(shape), "] and ",
                                  input.getElementType(), ", but got ", source);
  types.push_back(input);
  return success();
}
