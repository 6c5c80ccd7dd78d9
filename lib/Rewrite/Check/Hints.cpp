// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the constraints of a pattern as hints for Draw.cpp. PDL/Predicates.cpp checks the constraints themselves.

#include "Hints.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace inlay;

bool ValueHints::apply(SmallVectorImpl<int64_t> &shape) const {
  int64_t rank = shape.size();
  if (rank < minRank || rank > maxRank)
    return false;
  for (const DimHint &hint : dims) {
    int64_t dim = hint.dim < 0 ? hint.dim + rank : hint.dim;
    if (dim < 0 || dim >= rank)
      return false;
    int64_t size = std::min(std::max(shape[dim], hint.min), hint.max);
    shape[dim] = (size + hint.factor - 1) / hint.factor * hint.factor;
  }
  return true;
}

bool ValueHints::allows(RankedTensorType type) const {
  if (!dtypes.empty() && !llvm::is_contained(dtypes, type.getElementType()))
    return false;
  SmallVector<int64_t> shape(type.getShape());
  return apply(shape) && ArrayRef(shape) == type.getShape();
}

static Attribute constantOf(Value value) {
  auto attribute = value.getDefiningOp<pdl::AttributeOp>();
  return attribute ? attribute.getValueAttr() : Attribute();
}

static std::optional<int64_t> integerOf(ValueRange args, size_t number) {
  if (number < args.size())
    if (auto attribute = dyn_cast_or_null<IntegerAttr>(constantOf(args[number])))
      if (attribute.getValue().getSignificantBits() <= 32)
        return attribute.getValue().getSExtValue();
  return std::nullopt;
}

static void addTypes(Attribute attribute, SmallVectorImpl<Type> &types) {
  if (auto type = dyn_cast_or_null<TypeAttr>(attribute))
    types.push_back(type.getValue());
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    for (Attribute element : list)
      addTypes(element, types);
}

static void addDim(ValueHints &hints, std::optional<int64_t> dim, std::optional<int64_t> min,
                   std::optional<int64_t> max, int64_t factor = 1) {
  // Larger sizes take long to run, and drawn shapes need not match.
  constexpr int64_t kLargest = 512;
  if (dim && min && max && factor > 0 && *min <= kLargest && factor <= kLargest)
    hints.dims.push_back({*dim, *min, *max, factor});
}

static void readConstraint(StringRef name, ValueRange args, Hints &all) {
  ValueHints &hints = all[args[0]];
  if (name == "dtype" && args.size() > 1)
    addTypes(constantOf(args[1]), hints.dtypes);
  else if (name == "rank") {
    hints.minRank = integerOf(args, 1).value_or(0);
    hints.maxRank = integerOf(args, 2).value_or(integerOf(args, 1).value_or(5));
  } else if (name == "dim")
    addDim(hints, integerOf(args, 1), integerOf(args, 2), integerOf(args, 2));
  else if (name == "dim_between")
    addDim(hints, integerOf(args, 1), integerOf(args, 2), integerOf(args, 3));
  else if (name == "multiple_of")
    addDim(hints, integerOf(args, 1), 1, INT64_MAX / 2, integerOf(args, 2).value_or(0));
  else if (name == "splat" && args.size() > 1) {
    hints.splat = constantOf(args[1]);
    if (auto tolerance = args.size() > 2 ? dyn_cast_or_null<FloatAttr>(constantOf(args[2])) : FloatAttr())
      hints.tolerance = tolerance.getValueAsDouble();
  } else if (name == "splat_value")
    hints.isScalarConstant = true;
  else if (name == "constant" || name == "foldable")
    hints.isConstant = true;
  else if ((name == "same_shape" || name == "same_type") && args.size() == 2) {
    bool type = name == "same_type";
    (type ? hints.sameType : hints.sameShape).push_back(args[1]);
    ValueHints &other = all[args[1]]; // May invalidate `hints`.
    (type ? other.sameType : other.sameShape).push_back(args[0]);
  }
}

Hints inlay::readHints(pdl::PatternOp pattern) {
  Hints hints;
  for (auto op : pattern.getBody()->getOps<pdl::ApplyNativeConstraintOp>())
    if (!op.getIsNegated() && !op.getArgs().empty())
      readConstraint(op.getName(), op.getArgs(), hints);
  return hints;
}
