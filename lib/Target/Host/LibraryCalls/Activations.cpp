// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes library functions that are written as several pointwise ops. The ops are spelled as an expression, which
// is looked up in a table.

#include "LibraryCalls.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace inlay;
using plan::PostOpKind;

/// Functions by expression, in the forms that importers and users write. `x` is the argument. Operands of commutative
/// ops are sorted by their text. Numbers have nine digits, which is enough to identify an f32. `_handle_gelu` in
/// python/inlay/_import/torch/handlers/pointwise.py composes the form of `gelu_tanh` with `sigmoid`, and
/// lib/Runtime/Host/Portable/PostOps.inc computes it.
static constexpr std::pair<StringLiteral, PostOpKind> kActivations[] = {
    {"relu(x)", PostOpKind::relu},
    {"maximum(0,x)", PostOpKind::relu},
    {"gelu(x)", PostOpKind::gelu},
    {"mul(add(1,tanh(mul(0.797884583,add(mul(0.0447149985,mul(mul(x,x),x)),x)))),mul(0.5,x))", PostOpKind::gelu_tanh},
    {"mul(sigmoid(mul(1.59576917,add(mul(0.0447149985,mul(mul(x,x),x)),x))),x)", PostOpKind::gelu_tanh},
    {"silu(x)", PostOpKind::silu},
    {"mul(sigmoid(x),x)", PostOpKind::silu},
    {"sigmoid(x)", PostOpKind::sigmoid},
    {"tanh(x)", PostOpKind::tanh},
    {"div(mul(minimum(6,maximum(0,add(3,x))),x),6)", PostOpKind::hard_swish},
    {"mul(div(minimum(6,maximum(0,add(3,x))),6),x)", PostOpKind::hard_swish},
    {"div(minimum(6,maximum(0,add(3,x))),6)", PostOpKind::hard_sigmoid},
};

/// Exceeds the number of ops of each function.
static constexpr size_t kMaxOps = 12;

/// Returns the number of a splat constant.
static std::optional<APFloat> findNumber(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !splat.getElementType().isF32())
    return std::nullopt;
  return splat.getSplatValue<APFloat>();
}

namespace {
/// The pointwise ops that depend only on one value, on each other and on numbers.
struct Cone {
  Value start;
  llvm::SetVector<Operation *> ops; ///< In order.

  bool contains(Value value) const { return value == start || ops.contains(value.getDefiningOp()); }
  /// Adds the ops that compute `value`, a value of the cone, to `needed`.
  void collect(Value value, llvm::SetVector<Operation *> &needed) const;
  std::string spell(Value value) const;
};
} // namespace

void Cone::collect(Value value, llvm::SetVector<Operation *> &needed) const {
  Operation *op = value.getDefiningOp();
  if (value == start || !ops.contains(op) || needed.contains(op))
    return;
  for (Value operand : op->getOperands())
    collect(operand, needed);
  needed.insert(op);
}

std::string Cone::spell(Value value) const {
  if (value == start)
    return "x";
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (std::optional<APFloat> number = findNumber(value)) {
    stream << llvm::format("%.9g", number->convertToDouble());
    return text;
  }
  Operation *op = value.getDefiningOp();
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(spell(operand));
  if (op->hasTrait<OpTrait::IsCommutative>())
    llvm::sort(operands);
  stream << op->getName().stripDialect();
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().starts_with("inlay."))
      stream << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
  stream << '(' << llvm::join(operands, ",") << ')';
  return text;
}

/// Returns the pointwise ops that depend only on `start` and numbers.
static Cone growCone(Value start) {
  Cone cone{start, {}};
  auto grow = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (isa<PointwiseOpInterface>(user) && user->getBlock() == start.getParentBlock() &&
          user->getResultTypes() == TypeRange(start.getType()) && cone.ops.size() < kMaxOps &&
          llvm::all_of(user->getOperands(),
                       [&](Value operand) { return cone.contains(operand) || findNumber(operand); }))
        cone.ops.insert(user);
  };
  grow(start);
  for (size_t i = 0; i < cone.ops.size(); ++i)
    grow(cone.ops[i]->getResult(0));
  return cone;
}

/// Returns the function of the start that `value` is: a function of the table, or a clip.
static plan::PostOpAttr findPostOp(const Cone &cone, Value value) {
  MLIRContext *context = value.getContext();
  std::string text = cone.spell(value);
  for (auto [expression, kind] : kActivations)
    if (text == expression)
      return plan::PostOpAttr::get(context, kind, {}, {});
  auto splitBound = [](Operation *op) -> std::pair<std::optional<APFloat>, Value> {
    for (unsigned i = 0; i < 2; ++i)
      if (std::optional<APFloat> number = findNumber(op->getOperand(i)))
        return {number, op->getOperand(1 - i)};
    return {};
  };
  auto upper = value.getDefiningOp<MinimumOp>();
  if (!upper)
    return {};
  auto [high, inner] = splitBound(upper);
  auto lower = high ? inner.getDefiningOp<MaximumOp>() : MaximumOp();
  if (!lower)
    return {};
  auto [low, input] = splitBound(lower);
  if (!low || input != cone.start || low->isNaN() || high->isNaN() || *low > *high)
    return {};
  Type element = Float32Type::get(context);
  return plan::PostOpAttr::get(context, PostOpKind::clip, FloatAttr::get(element, *low),
                               FloatAttr::get(element, *high));
}

std::optional<Activation> inlay::matchActivation(Value start) {
  Cone cone = growCone(start);
  std::optional<Activation> found;
  for (Operation *last : cone.ops) {
    llvm::SetVector<Operation *> needed;
    cone.collect(last->getResult(0), needed);
    auto staysInside = [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) { return needed.contains(user); });
    };
    bool isClosed = staysInside(start) &&
                    llvm::all_of(needed, [&](Operation *op) { return op == last || staysInside(op->getResult(0)); });
    if (!isClosed || (found && found->ops.size() >= needed.size()))
      continue;
    if (plan::PostOpAttr postOp = findPostOp(cone, last->getResult(0)))
      found = Activation{postOp, needed.takeVector()};
  }
  return found;
}
