// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constraints that are always registered. A constraint that does not hold explains what it expected and what it
// found.

#include "inlay/Rewrite/NativeFunctions.h"
#include "inlay/Support/ToText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

static std::optional<int64_t> getInteger(const NativeCall &call, size_t number) {
  if (auto attribute = dyn_cast_or_null<IntegerAttr>(call.get<Attribute>(number)))
    if (attribute.getValue().getSignificantBits() <= 64)
      return attribute.getValue().getSExtValue();
  return std::nullopt;
}

static Type elementType(Value value) { return value ? getElementTypeOrSelf(value.getType()) : Type(); }

/// Returns the size of operand 0 along the dim given by operand 1. Fails if the size is unknown.
static FailureOr<int64_t> getDim(NativeCall &call) {
  auto type = call.get<Value>(0) ? dyn_cast<RankedTensorType>(call.get<Value>(0).getType()) : RankedTensorType();
  std::optional<int64_t> dim = getInteger(call, 1);
  if (!type)
    return call.fail("expected a ranked tensor, but found another type");
  if (!dim || *dim < -type.getRank() || *dim >= type.getRank())
    return call.fail("expected a tensor with that dim, but found rank " + Twine(type.getRank()));
  int64_t number = *dim < 0 ? *dim + type.getRank() : *dim;
  if (type.isDynamicDim(number))
    return call.fail("expected dim " + Twine(*dim) + " to be known, but it is dynamic");
  return type.getDimSize(number);
}

/// dtype(value, f32), dtype(value, [f16, bf16]): holds if the element type is one of the given types.
static LogicalResult isDtype(NativeCall &call) {
  Type found = elementType(call.get<Value>(0));
  auto equals = [&](Attribute wanted) {
    if (auto type = dyn_cast<TypeAttr>(wanted))
      return type.getValue() == found;
    auto name = dyn_cast<StringAttr>(wanted);
    return name && name.getValue() == toText(found);
  };
  Attribute wanted = call.get<Attribute>(1);
  if (!found || !wanted)
    return call.fail("expected a value and a type");
  auto list = dyn_cast<ArrayAttr>(wanted);
  if (list ? llvm::any_of(list, equals) : equals(wanted))
    return success();
  return call.fail("expected dtype " + toText(wanted) + ", but found " + toText(found));
}

/// rank(value, 2), rank(value, 1, 3): holds if the rank is the given one or in the range.
static LogicalResult isRank(NativeCall &call) {
  auto type = call.get<Value>(0) ? dyn_cast<RankedTensorType>(call.get<Value>(0).getType()) : RankedTensorType();
  std::optional<int64_t> min = getInteger(call, 1);
  if (!type || !min)
    return call.fail("expected a ranked tensor and a rank");
  int64_t max = getInteger(call, 2).value_or(*min);
  if (type.getRank() >= *min && type.getRank() <= max)
    return success();
  return call.fail("expected rank " + Twine(*min) + (max == *min ? "" : " to " + std::to_string(max)) + ", but found " +
                   Twine(type.getRank()));
}

/// dim(value, 0, 64): holds if dim 0 has size 64.
static LogicalResult isDim(NativeCall &call) {
  FailureOr<int64_t> found = getDim(call);
  if (failed(found))
    return failure();
  std::optional<int64_t> wanted = getInteger(call, 2);
  if (wanted && *found == *wanted)
    return success();
  return call.fail("expected size " + Twine(wanted.value_or(-1)) + ", but found " + Twine(*found));
}

/// multiple_of(value, 0, 16): holds if the size of dim 0 is a multiple of 16.
static LogicalResult isMultipleOf(NativeCall &call) {
  FailureOr<int64_t> found = getDim(call);
  if (failed(found))
    return failure();
  std::optional<int64_t> factor = getInteger(call, 2);
  if (factor && *factor > 0 && *found % *factor == 0)
    return success();
  return call.fail("expected a multiple of " + Twine(factor.value_or(0)) + ", but found size " + Twine(*found));
}

/// dim_between(value, 0, 1, 128): holds if the size of dim 0 is from 1 to 128.
static LogicalResult isDimBetween(NativeCall &call) {
  FailureOr<int64_t> found = getDim(call);
  if (failed(found))
    return failure();
  std::optional<int64_t> min = getInteger(call, 2), max = getInteger(call, 3);
  if (min && max && *found >= *min && *found <= *max)
    return success();
  return call.fail("expected a size from " + Twine(min.value_or(0)) + " to " + Twine(max.value_or(0)) + ", but found " +
                   Twine(*found));
}

static LogicalResult hasStaticShape(NativeCall &call) {
  auto type = call.get<Value>(0) ? dyn_cast<RankedTensorType>(call.get<Value>(0).getType()) : RankedTensorType();
  return type && type.hasStaticShape() ? success() : call.fail("expected a static shape");
}

static LogicalResult isSameShape(NativeCall &call) {
  auto a = call.get<Value>(0), b = call.get<Value>(1);
  auto typeA = a ? dyn_cast<RankedTensorType>(a.getType()) : RankedTensorType();
  auto typeB = b ? dyn_cast<RankedTensorType>(b.getType()) : RankedTensorType();
  if (typeA && typeB && typeA.getShape() == typeB.getShape() && typeA.hasStaticShape())
    return success();
  return call.fail("expected two values of one static shape");
}

static LogicalResult isSameType(NativeCall &call) {
  auto a = call.get<Value>(0), b = call.get<Value>(1);
  return a && b && a.getType() == b.getType() ? success() : call.fail("expected two values of one type");
}

static LogicalResult isConstant(NativeCall &call) {
  Value value = call.get<Value>(0);
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return op && op->hasTrait<OpTrait::ConstantLike>() ? success() : call.fail("expected a constant");
}

/// splat(value, 2.0), splat(value, 2.0, 1e-6): holds for a constant whose elements all equal the number, within a
/// tolerance.
static LogicalResult isSplat(NativeCall &call) {
  DenseElementsAttr elements;
  Value value = call.get<Value>(0);
  if (!value || !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return call.fail("expected a constant with equal elements");
  auto number = [](Attribute attribute) -> std::optional<double> {
    if (auto real = dyn_cast_or_null<FloatAttr>(attribute))
      return real.getValueAsDouble();
    if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
      return integer.getValue().signedRoundToDouble();
    return std::nullopt;
  };
  std::optional<double> found = number(elements.getSplatValue<Attribute>()), wanted = number(call.get<Attribute>(1));
  double tolerance = number(call.get<Attribute>(2)).value_or(0);
  if (found && wanted && (*found == *wanted || std::abs(*found - *wanted) <= tolerance))
    return success();
  return call.fail("expected a constant of " + toText(call.get<Attribute>(1)) + ", but found " +
                   toText(elements.getSplatValue<Attribute>()));
}

/// foldable(value), foldable(value, 10): holds if the value is computed from constants only, through a chain of at most
/// the given number of ops.
static LogicalResult isFoldable(NativeCall &call) {
  constexpr size_t kMaxOps = 1000;
  int64_t depth = getInteger(call, 1).value_or(10);
  llvm::SetVector<std::pair<Operation *, int64_t>> ops;
  auto visit = [&](Value value, int64_t above) {
    Operation *op = value ? value.getDefiningOp() : nullptr;
    return op && above <= depth && ops.size() < kMaxOps && (ops.insert({op, above}), true);
  };
  if (!visit(call.get<Value>(0), 0))
    return call.fail("expected a value made of constants");
  for (size_t i = 0; i < ops.size(); ++i) {
    auto [op, above] = ops[i];
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isPure(op) || op->getNumOperands() == 0)
      return call.fail("expected a value made of constants, but '" + op->getName().getStringRef() + "' makes it");
    for (Value operand : op->getOperands())
      if (!visit(operand, above + 1))
        return call.fail("expected a value made of constants within " + Twine(depth) + " ops");
  }
  return success();
}

/// one_use(value): holds if the value has one use.
static LogicalResult hasOneUse(NativeCall &call) {
  Value value = call.get<Value>(0);
  return value && value.hasOneUse() ? success() : call.fail("expected a value that is used once");
}

/// uses(value, 2): holds if the value has that many uses. Each operand counts.
static LogicalResult hasUses(NativeCall &call) {
  Value value = call.get<Value>(0);
  std::optional<int64_t> wanted = getInteger(call, 1);
  if (!value || !wanted || *wanted < 0)
    return call.fail("expected a value and a number of uses");
  int64_t found = std::distance(value.use_begin(), value.use_end());
  if (found == *wanted)
    return success();
  return call.fail("expected " + Twine(*wanted) + " uses, but found " + Twine(found));
}

/// absent(op, "bias"): holds if the op has no attribute of that name.
static LogicalResult isAbsent(NativeCall &call) {
  auto *op = call.get<Operation *>(0);
  auto name = dyn_cast_or_null<StringAttr>(call.get<Attribute>(1));
  return op && name && !op->getAttr(name) ? success() : call.fail("expected no attribute " + toText(name));
}

/// arg("name") returns an argument of the run. arg("name", value) holds if the argument has that value.
static LogicalResult getArg(NativeCall &call) {
  auto name = dyn_cast_or_null<StringAttr>(call.get<Attribute>(0));
  if (!name)
    return call.fail("expected the name of an argument as a string");
  Attribute found = call.args ? call.args.get(name) : Attribute();
  if (!found)
    return call.fail("expected an argument '" + name.getValue() + "', but it isn't given");
  if (call.operands.size() == 1) {
    call.results->push_back(found);
    return success();
  }
  Attribute wanted = call.get<Attribute>(1);
  if (found == wanted)
    return success();
  return call.fail("expected argument '" + name.getValue() + "' to be " + toText(wanted) + ", but it is " +
                   toText(found));
}

void inlay::addPredicates(NativeFunctions &functions) {
  functions.addConstraint("absent", isAbsent);
  functions.addConstraint("arg", getArg);
  functions.addConstraint("constant", isConstant);
  functions.addConstraint("dim", isDim);
  functions.addConstraint("dim_between", isDimBetween);
  functions.addConstraint("dtype", isDtype);
  functions.addConstraint("foldable", isFoldable);
  functions.addConstraint("multiple_of", isMultipleOf);
  functions.addConstraint("one_use", hasOneUse);
  functions.addConstraint("rank", isRank);
  functions.addConstraint("same_shape", isSameShape);
  functions.addConstraint("same_type", isSameType);
  functions.addConstraint("splat", isSplat);
  functions.addConstraint("static_shape", hasStaticShape);
  functions.addConstraint("uses", hasUses);
}
