// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of ops with indices.

#include "InferGraphOps.h"

using namespace mlir;
using namespace inlay;

/// Checks that `index` contains integers wider than one bit.
template <typename Op>
static LogicalResult checkIndices(OptLoc loc, StringRef what, Value index) {
  Type element = tensorType(index).getElementType();
  if (element.isSignlessInteger() && !element.isInteger(1))
    return success();
  return reject<Op>(loc, "expected ", what, " of integers, but got ", tensorType(index));
}

/// Checks that a dim of size `size` has an element to read, unless `shape` has no elements.
template <typename Op>
static LogicalResult checkReadable(OptLoc loc, int64_t size, ArrayRef<int64_t> shape) {
  if (size != 0 || llvm::is_contained(shape, 0))
    return success();
  return reject<Op>(loc, "expected indices for a dim that has elements, but its size is 0");
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType weight = tensorType(op.getWeight());
  if (weight.getRank() < 1)
    return reject<EmbeddingOp>(loc, "expected a table of rank 1 or more, but got ", weight);
  SmallVector<int64_t> shape(tensorType(op.getIndices()).getShape());
  shape.append(weight.getShape().begin() + 1, weight.getShape().end());
  if (failed(checkIndices<EmbeddingOp>(loc, "indices", op.getIndices())) ||
      failed(checkReadable<EmbeddingOp>(loc, weight.getDimSize(0), shape)))
    return failure();
  return yieldType<EmbeddingOp>(loc, shape, weight.getElementType(), types);
}

LogicalResult IndexSelectOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), index = tensorType(op.getIndex());
  FailureOr<int64_t> dim = checkDim<IndexSelectOp>(loc, op.getDim(), input);
  if (failed(dim) || failed(checkIndices<IndexSelectOp>(loc, "an index", op.getIndex())))
    return failure();
  if (index.getRank() != 1)
    return reject<IndexSelectOp>(loc, "expected a vector of indices, but got ", index);
  SmallVector<int64_t> shape(input.getShape());
  shape[*dim] = index.getDimSize(0);
  if (failed(checkReadable<IndexSelectOp>(loc, input.getDimSize(*dim), shape)))
    return failure();
  return yieldType<IndexSelectOp>(loc, shape, input.getElementType(), types);
}

/// Checks that `index` has the rank of `input` and is no larger than it, except in `dim`.
template <typename Op>
static LogicalResult checkPlaces(OptLoc loc, RankedTensorType index, RankedTensorType input, int64_t dim) {
  bool fits = index.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i)
    fits = i == dim || ShapedType::isDynamic(index.getDimSize(i)) || ShapedType::isDynamic(input.getDimSize(i)) ||
           index.getDimSize(i) <= input.getDimSize(i);
  if (fits)
    return success();
  return reject<Op>(loc, "expected an index no larger than ", input, " in dims other than ", dim, ", but got ", index);
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), index = tensorType(op.getIndex());
  FailureOr<int64_t> dim = checkDim<GatherOp>(loc, op.getDim(), input);
  if (failed(dim) || failed(checkIndices<GatherOp>(loc, "an index", op.getIndex())) ||
      failed(checkPlaces<GatherOp>(loc, index, input, *dim)) ||
      failed(checkReadable<GatherOp>(loc, input.getDimSize(*dim), index.getShape())))
    return failure();
  return yieldType<GatherOp>(loc, index.getShape(), input.getElementType(), types);
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), index = tensorType(op.getIndex()),
                   source = tensorType(op.getSource());
  FailureOr<int64_t> dim = checkDim<ScatterOp>(loc, op.getDim(), input);
  if (failed(dim) || failed(checkIndices<ScatterOp>(loc, "an index", op.getIndex())) ||
      failed(checkPlaces<ScatterOp>(loc, index, input, *dim)))
    return failure();
  bool fits = source.getRank() == index.getRank() && source.getElementType() == input.getElementType();
  for (int64_t i = 0; fits && i < index.getRank(); ++i)
    fits = index.isDynamicDim(i) || source.isDynamicDim(i) || index.getDimSize(i) <= source.getDimSize(i);
  if (!fits)
    return reject<ScatterOp>(loc, "expected a source of ", input.getElementType(), " no smaller than ", index,
                             ", but got ", source);
  std::optional<StringRef> reduce = op.getReduce();
  if (reduce && !llvm::is_contained({"sum", "prod", "amax", "amin"}, *reduce))
    return reject<ScatterOp>(loc, "expected reduce to be sum, prod, amax or amin, but got ", *reduce);
  types.push_back(input);
  return success();
}

//===-- Several indices -----------------------------------------------------------------------------------------===//

/// Returns the dims of `input[indices]`.
template <typename Op>
static FailureOr<SmallVector<int64_t>> inferIndexed(OptLoc loc, RankedTensorType input, ValueRange indices,
                                                    ArrayRef<int64_t> dims) {
  if (indices.empty() || indices.size() != dims.size())
    return reject<Op>(loc, "expected a dim for each of at least one tensor of indices, but got ", dims.size(), " and ",
                      indices.size());
  SmallVector<int64_t> places;
  for (auto [n, index] : llvm::enumerate(indices)) {
    if (failed(checkIndices<Op>(loc, "indices", index)))
      return failure();
    if (dims[n] < 0 || dims[n] >= input.getRank() || (n > 0 && dims[n] <= dims[n - 1]))
      return reject<Op>(loc, "expected increasing dims in [0, ", input.getRank(), "), but got [", dims, "]");
    if (!broadcastInto(places, tensorType(index).getShape()))
      return reject<Op>(loc, "expected indices that broadcast, but got ", indices.getTypes());
  }
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(input.getDimSize(dim));
  int64_t first = getIndexedPlace(dims);
  shape.insert(shape.begin() + first, places.begin(), places.end());
  return shape;
}

int64_t inlay::getIndexedPlace(ArrayRef<int64_t> dims) {
  bool together = dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  return together ? dims.front() : 0;
}

LogicalResult IndexOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  auto shape = inferIndexed<IndexOp>(loc, input, op.getIndices(), op.getDims());
  if (failed(shape))
    return failure();
  for (int64_t dim : op.getDims())
    if (failed(checkReadable<IndexOp>(loc, input.getDimSize(dim), *shape)))
      return failure();
  return yieldType<IndexOp>(loc, *shape, input.getElementType(), types);
}

LogicalResult IndexPutOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), values = tensorType(op.getValues());
  auto shape = inferIndexed<IndexPutOp>(loc, input, op.getIndices(), op.getDims());
  if (failed(shape))
    return failure();
  SmallVector<int64_t> written(*shape);
  if (values.getElementType() != input.getElementType() || !broadcastInto(written, values.getShape()) ||
      written.size() != shape->size() || !llvm::all_of(llvm::zip(written, *shape), [](auto pair) {
        return mayEqual(std::get<0>(pair), std::get<1>(pair));
      }))
    return reject<IndexPutOp>(loc, "expected values of ", input.getElementType(), " that broadcast to dims [",
                              ArrayRef<int64_t>(*shape), "], but got ", values);
  types.push_back(input);
  return success();
}

//===-- Sorting -------------------------------------------------------------------------------------------------===//

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (failed(checkDim<ArgsortOp>(loc, op.getDim(), input)))
    return failure();
  return yieldType<ArgsortOp>(loc, input.getShape(), IntegerType::get(context, 64), types);
}
