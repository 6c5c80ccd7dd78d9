// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints and rewrites for lists of dims, shapes and numbers. Rules for layout and normalization use them.

#include "inlay/Rewrite/NativeFunctions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;

static RankedTensorType tensorOf(const NativeCall &call, size_t number) {
  Value value = call.get<Value>(number);
  return value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

static std::optional<ArrayRef<int64_t>> dimsOf(const NativeCall &call, size_t number) {
  auto dims = dyn_cast_or_null<DenseI64ArrayAttr>(call.get<Attribute>(number));
  return dims ? std::optional(dims.asArrayRef()) : std::nullopt;
}

static std::optional<int64_t> numberOf(const NativeCall &call, size_t number) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(call.get<Attribute>(number));
  if (!attribute || attribute.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return attribute.getValue().getSExtValue();
}

/// same_dim(a, 0, b, -1): holds if both sizes are static and equal.
static LogicalResult isSameDim(NativeCall &call) {
  int64_t sizes[2];
  for (int i = 0; i < 2; ++i) {
    RankedTensorType type = tensorOf(call, 2 * i);
    std::optional<int64_t> dim = numberOf(call, 2 * i + 1);
    if (!type || !dim || *dim < -type.getRank() || *dim >= type.getRank())
      return call.fail("expected tensors with these dims");
    sizes[i] = type.getDimSize(*dim < 0 ? *dim + type.getRank() : *dim);
    if (ShapedType::isDynamic(sizes[i]))
      return call.fail("expected static sizes, but one is dynamic");
  }
  if (sizes[0] == sizes[1])
    return success();
  return call.fail("expected equal sizes, but found " + Twine(sizes[0]) + " and " + Twine(sizes[1]));
}

/// trailing_dims(dims, x, w): holds if `dims` are the trailing dims of x and w has their sizes.
static LogicalResult areTrailingDims(NativeCall &call) {
  std::optional<ArrayRef<int64_t>> dims = dimsOf(call, 0);
  RankedTensorType type = tensorOf(call, 1), other = tensorOf(call, 2);
  if (!dims || !type || !other)
    return call.fail("expected dims and two tensors");
  int64_t rank = type.getRank(), count = dims->size();
  llvm::SmallDenseSet<int64_t> wanted;
  for (int64_t dim : *dims)
    wanted.insert(dim < 0 ? dim + rank : dim);
  for (int64_t dim = rank - count; dim < rank; ++dim)
    if (!wanted.contains(dim))
      return call.fail("expected the trailing dims");
  if (count != other.getRank() || type.getShape().take_back(count) != other.getShape() || !other.hasStaticShape())
    return call.fail("expected a tensor of the trailing dims");
  return success();
}

/// identity_dims(dims): holds if the permutation is the identity.
static LogicalResult isIdentity(NativeCall &call) {
  std::optional<ArrayRef<int64_t>> dims = dimsOf(call, 0);
  for (auto [i, dim] : llvm::enumerate(dims.value_or(ArrayRef<int64_t>())))
    if (dim != static_cast<int64_t>(i))
      return call.fail("expected the identity permutation");
  return dims ? success() : call.fail("expected a permutation");
}

/// last_dim(dim, x): holds if `dim` is the last dim of x, counted from either end.
static LogicalResult isLastDim(NativeCall &call) {
  std::optional<int64_t> dim = numberOf(call, 0);
  RankedTensorType type = tensorOf(call, 1);
  if (dim && type && (*dim == -1 || *dim == type.getRank() - 1) && type.getRank() > 0)
    return success();
  return call.fail("expected the last dim, but found dim " + Twine(dim.value_or(0)));
}

/// halves(x, half, end): holds if [0, half) and [half, end) are the halves of the last dim.
static LogicalResult areHalves(NativeCall &call) {
  RankedTensorType type = tensorOf(call, 0);
  std::optional<int64_t> half = numberOf(call, 1), end = numberOf(call, 2);
  if (!type || type.getRank() == 0 || !half || !end || type.isDynamicDim(type.getRank() - 1))
    return call.fail("expected a tensor with a static last dim, and two numbers");
  int64_t size = type.getShape().back();
  if (*half > 0 && size % 2 == 0 && *half == size / 2 && *end >= size)
    return success();
  return call.fail("expected the halves of size " + Twine(size) + ", but found a cut at " + Twine(*half));
}

/// only(dims): returns the dim of a list with one element.
static LogicalResult getOnly(NativeCall &call) {
  std::optional<ArrayRef<int64_t>> dims = dimsOf(call, 0);
  if (!dims || dims->size() != 1)
    return call.fail("expected one dim, but found " + Twine(dims ? dims->size() : 0));
  Builder builder(call.get<Attribute>(0).getContext());
  call.results->push_back(Attribute(builder.getI64IntegerAttr(dims->front())));
  return success();
}

/// splat_value(value): returns the value of all elements of a constant of floats.
static LogicalResult getSplatValue(NativeCall &call) {
  DenseElementsAttr elements;
  Value value = call.get<Value>(0);
  if (!value || !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return call.fail("expected a constant with equal elements");
  auto number = dyn_cast<FloatAttr>(elements.getSplatValue<Attribute>());
  if (!number)
    return call.fail("expected a constant of floats");
  Builder builder(value.getContext());
  call.results->push_back(Attribute(builder.getF64FloatAttr(number.getValueAsDouble())));
  return success();
}

/// compose_dims(inner, outer): returns the permutation `inner` followed by `outer`.
static LogicalResult composeDims(NativeCall &call) {
  std::optional<ArrayRef<int64_t>> inner = dimsOf(call, 0), outer = dimsOf(call, 1);
  if (!inner || !outer || inner->size() != outer->size())
    return call.fail("expected two permutations of the same number of dims");
  SmallVector<int64_t> dims;
  for (int64_t dim : *outer) {
    if (dim < 0 || dim >= static_cast<int64_t>(inner->size()))
      return call.fail("expected a permutation");
    dims.push_back((*inner)[dim]);
  }
  call.results->push_back(Attribute(Builder(call.get<Attribute>(0).getContext()).getDenseI64ArrayAttr(dims)));
  return success();
}

/// scalar(number, like): returns the value of a constant of rank 0 with the element type of `like`.
static LogicalResult makeScalar(NativeCall &call) {
  auto number = dyn_cast_or_null<FloatAttr>(call.get<Attribute>(0));
  RankedTensorType like = tensorOf(call, 1);
  if (!number || !like || !isa<FloatType>(like.getElementType()))
    return call.fail("expected a number and a tensor of floats");
  Type element = like.getElementType();
  auto value = FloatAttr::get(element, number.getValueAsDouble());
  call.results->push_back(Attribute(DenseElementsAttr::get(RankedTensorType::get({}, element), value)));
  return success();
}

/// column_shape(value): returns the first size followed by ones, to broadcast along all other dims.
static LogicalResult getColumnShape(NativeCall &call) {
  RankedTensorType type = tensorOf(call, 0);
  if (!type || type.getRank() == 0 || type.isDynamicDim(0))
    return call.fail("expected a tensor with a static first dim");
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[0] = type.getDimSize(0);
  call.results->push_back(Attribute(Builder(type.getContext()).getDenseI64ArrayAttr(shape)));
  return success();
}

/// trailing_dims(x, w): returns the last dims of x, as many as w has.
static LogicalResult getTrailingDims(NativeCall &call) {
  RankedTensorType type = tensorOf(call, 0), other = tensorOf(call, 1);
  if (!type || !other || other.getRank() > type.getRank())
    return call.fail("expected two tensors, the second of no higher rank");
  auto dims = llvm::to_vector(llvm::seq(type.getRank() - other.getRank(), type.getRank()));
  call.results->push_back(Attribute(Builder(type.getContext()).getDenseI64ArrayAttr(dims)));
  return success();
}

/// dims(1, -1, size): returns a list of these numbers.
static LogicalResult makeDims(NativeCall &call) {
  SmallVector<int64_t> dims;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    std::optional<int64_t> number = numberOf(call, i);
    if (!number)
      return call.fail("expected numbers");
    dims.push_back(*number);
  }
  if (dims.empty())
    return call.fail("expected at least one number");
  call.results->push_back(Attribute(Builder(call.get<Attribute>(0).getContext()).getDenseI64ArrayAttr(dims)));
  return success();
}

/// half(x): returns half the last size.
static LogicalResult getHalf(NativeCall &call) {
  RankedTensorType type = tensorOf(call, 0);
  if (!type || type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) || type.getShape().back() % 2)
    return call.fail("expected a tensor with a static and even last dim");
  call.results->push_back(Attribute(Builder(type.getContext()).getI64IntegerAttr(type.getShape().back() / 2)));
  return success();
}

void inlay::addDimFunctions(NativeFunctions &functions) {
  functions.addConstraint("identity_dims", isIdentity);
  functions.addConstraint("halves", areHalves);
  functions.addConstraint("last_dim", isLastDim);
  functions.addConstraint("only", getOnly);
  functions.addConstraint("same_dim", isSameDim);
  functions.addConstraint("splat_value", getSplatValue);
  functions.addConstraint("trailing_dims", areTrailingDims);
  functions.addRewrite("column_shape", getColumnShape);
  functions.addRewrite("compose_dims", composeDims);
  functions.addRewrite("dims", makeDims);
  functions.addRewrite("half", getHalf);
  functions.addRewrite("scalar", makeScalar);
  functions.addRewrite("trailing_dims", getTrailingDims);
}
