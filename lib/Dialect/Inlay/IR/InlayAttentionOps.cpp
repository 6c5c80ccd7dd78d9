// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of attention and of normalizations by statistics of their own input.

#include "InferGraphOps.h"

#include <cmath>

using namespace mlir;
using namespace inlay;

//===-- Attention -----------------------------------------------------------------------------------------------===//

static LogicalResult checkOperands(OptLoc loc, ScaledDotProductAttentionOp::Adaptor op) {
  using Op = ScaledDotProductAttentionOp;
  RankedTensorType query = tensorType(op.getQuery()), key = tensorType(op.getKey()), value = tensorType(op.getValue());
  for (RankedTensorType type : {query, key, value})
    if (type.getRank() < 2 || !isa<FloatType>(type.getElementType()) || type.getElementType() != query.getElementType())
      return reject<Op>(loc, "expected query, key and value of one float type and rank 2 or more, but got ", query,
                        ", ", key, " and ", value);
  if (!mayEqual(query.getShape().back(), key.getShape().back()))
    return reject<Op>(loc, "expected query and key to have equal last dims, but got ", query, " and ", key);
  if (!mayEqual(key.getShape().take_back(2).front(), value.getShape().take_back(2).front()))
    return reject<Op>(loc, "expected as many keys as values, but got ", key, " and ", value);
  if (double scale = op.getScale().convertToDouble(); !std::isfinite(scale))
    return reject<Op>(loc, "expected a finite scale, but got ", scale);
  if (op.getIsCausal() && op.getMask())
    return reject<Op>(loc, "expected is_causal or a mask, but got both");
  return success();
}

/// With `enable_gqa`, sets the number of heads in `shape` to that of the query.
static LogicalResult repeatHeads(OptLoc loc, RankedTensorType query, SmallVectorImpl<int64_t> &shape) {
  using Op = ScaledDotProductAttentionOp;
  if (query.getRank() < 3 || shape.size() < 3)
    return reject<Op>(loc, "expected operands of rank 3 or more with enable_gqa, but got ", query, " and dims [",
                      ArrayRef<int64_t>(shape), "]");
  int64_t queryHeads = query.getShape().take_back(3).front(), &heads = shape[shape.size() - 3];
  if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(heads)) {
    heads = queryHeads;
    return success();
  }
  if (heads == 0 || queryHeads % heads)
    return reject<Op>(loc, "expected the heads of query (", queryHeads,
                      ") to be a multiple of those of key and value (", heads, ")");
  heads = queryHeads;
  return success();
}

LogicalResult ScaledDotProductAttentionOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  using Op = ScaledDotProductAttentionOp;
  if (failed(checkOperands(loc, op)))
    return failure();
  RankedTensorType query = tensorType(op.getQuery()), key = tensorType(op.getKey()), value = tensorType(op.getValue());
  SmallVector<int64_t> keyShape(key.getShape()), valueShape(value.getShape());
  if (op.getEnableGqa() && (failed(repeatHeads(loc, query, keyShape)) || failed(repeatHeads(loc, query, valueShape))))
    return failure();
  SmallVector<int64_t> shape(query.getShape().drop_back(2));
  if (!broadcastInto(shape, ArrayRef(keyShape).drop_back(2)) ||
      !broadcastInto(shape, ArrayRef(valueShape).drop_back(2)))
    return reject<Op>(loc, "expected leading dims that broadcast, but got ", query, ", ", key, " and ", value);
  shape.append({query.getShape().take_back(2).front(), key.getShape().take_back(2).front()});
  if (op.getMask()) {
    RankedTensorType mask = tensorType(op.getMask());
    if (!mask.getElementType().isInteger(1) && mask.getElementType() != query.getElementType())
      return reject<Op>(loc, "expected a mask of i1 or ", query.getElementType(), ", but got ", mask);
    SmallVector<int64_t> masked(shape);
    if (!broadcastInto(masked, mask.getShape()) || masked != shape)
      return reject<Op>(loc, "expected a mask that broadcasts to dims [", ArrayRef<int64_t>(shape), "], but got ",
                        mask);
  }
  shape.back() = valueShape.back();
  return yieldType<Op>(loc, shape, query.getElementType(), types);
}

//===-- Normalization -------------------------------------------------------------------------------------------===//

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput());
  if (input.getRank() < 2 || !isa<FloatType>(input.getElementType()))
    return reject<GroupNormOp>(loc, "expected an input of floats of rank 2 or more, but got ", input);
  int64_t channels = input.getDimSize(1), groups = op.getGroups();
  if (groups < 1 || (!ShapedType::isDynamic(channels) && channels % groups))
    return reject<GroupNormOp>(loc, "expected groups to divide the channels (", channels, "), but got ", groups);
  for (auto [name, vector] : {std::pair<StringRef, Value>{"weight", op.getWeight()}, {"bias", op.getBias()}})
    if (failed(checkVector<GroupNormOp>(loc, name, vector, channels, input.getElementType())))
      return failure();
  types.push_back(input);
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, OptLoc loc, Adaptor op, Types &types) {
  RankedTensorType input = tensorType(op.getInput()), weight = tensorType(op.getWeight());
  if (!isa<FloatType>(input.getElementType()))
    return reject<RmsNormOp>(loc, "expected an input of floats, but got ", input);
  int64_t rank = weight.getRank();
  bool trailing = rank >= 1 && rank <= input.getRank() && weight.getElementType() == input.getElementType() &&
                  llvm::all_of(llvm::zip(weight.getShape(), input.getShape().take_back(rank)),
                               [](auto pair) { return mayEqual(std::get<0>(pair), std::get<1>(pair)); });
  if (!trailing)
    return reject<RmsNormOp>(loc, "expected weight to have the trailing dims of ", input, ", but got ", weight);
  types.push_back(input);
  return success();
}
