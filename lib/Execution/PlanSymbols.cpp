// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the input dims that determine each symbol of a program, and converts maps of symbols to runtime expressions.

#include "PlanSymbols.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace inlay;

namespace {
/// A dim that determines a symbol: scale * symbol + offset.
struct Linear {
  unsigned symbol;
  int64_t scale = 1, offset = 0;

  bool isPlain() const { return scale == 1 && offset == 0; }
};
} // namespace

/// If `expr` is an op of kind `kind` with a constant right operand, replaces `expr` by the left operand and `value` by
/// the constant.
static void takeConstant(AffineExprKind kind, AffineExpr &expr, int64_t &value) {
  if (expr.getKind() != kind)
    return;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
    value = constant.getValue();
    expr = binary.getLHS();
  }
}

static std::optional<Linear> matchLinear(AffineExpr expr) {
  Linear linear;
  takeConstant(AffineExprKind::Add, expr, linear.offset);
  takeConstant(AffineExprKind::Mul, expr, linear.scale);
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  if (!symbol)
    return std::nullopt;
  linear.symbol = symbol.getPosition();
  return linear;
}

FailureOr<std::vector<rt::Symbol>> inlay::findSymbols(plan::ProgramOp program) {
  SmallVector<SymbolAttr> declared = getSymbols(program);
  std::vector<rt::Symbol> symbols(declared.size());
  auto search = [&](bool plain) {
    for (auto [number, input] : llvm::enumerate(program.getBody().getOps<plan::InputOp>())) {
      AffineMapAttr dims = input.getBuffer().getType().getDims();
      for (auto [dim, expr] : llvm::enumerate(dims ? dims.getValue().getResults() : ArrayRef<AffineExpr>())) {
        std::optional<Linear> linear = matchLinear(expr);
        if (!linear || linear->isPlain() != plain || !symbols[linear->symbol].name.empty())
          continue;
        SymbolAttr symbol = declared[linear->symbol];
        symbols[linear->symbol] = {
            symbol.getName().str(),     symbol.getMin(), symbol.getMax(), static_cast<uint32_t>(number),
            static_cast<uint32_t>(dim), linear->scale,   linear->offset};
      }
    }
  };
  search(/*plain=*/true);
  search(/*plain=*/false);
  for (auto [symbol, attribute] : llvm::zip_equal(symbols, declared))
    if (symbol.name.empty())
      return program.emitOpError("expected an input with a dim that determines '")
             << attribute.getName() << "': the symbol itself, or a multiple of it plus a constant";
  return symbols;
}

static rt::Expr convertExpr(AffineExpr expr, ArrayRef<rt::Symbol> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return rt::Expr(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return rt::valueOf(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  rt::Expr lhs = convertExpr(binary.getLHS(), symbols), rhs = convertExpr(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return rt::Expr::binary(rt::Expr::Op::Add, lhs, rhs);
  case AffineExprKind::Mul:
    return rt::Expr::binary(rt::Expr::Op::Mul, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return rt::Expr::binary(rt::Expr::Op::FloorDiv, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return rt::Expr::binary(rt::Expr::Op::CeilDiv, lhs, rhs);
  default:
    return rt::Expr::binary(rt::Expr::Op::Mod, lhs, rhs);
  }
}

/// Adds the terms of a sum to `added`. Terms with a negative factor go to `subtracted`, without the sign.
static void splitSum(AffineExpr expr, SmallVectorImpl<AffineExpr> &added, SmallVectorImpl<AffineExpr> &subtracted) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && sum.getKind() == AffineExprKind::Add) {
    splitSum(sum.getLHS(), added, subtracted);
    splitSum(sum.getRHS(), added, subtracted);
    return;
  }
  int64_t factor = 1;
  AffineExpr rest = expr;
  takeConstant(AffineExprKind::Mul, rest, factor);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    factor = constant.getValue();
  bool isNegative = factor < 0 && factor != std::numeric_limits<int64_t>::min();
  (isNegative ? subtracted : added).push_back(isNegative ? expr * -1 : expr);
}

static std::string spellSum(ArrayRef<AffineExpr> terms, ArrayRef<rt::Symbol> symbols) {
  auto texts = llvm::map_range(terms, [&](AffineExpr term) { return rt::spell(convertExpr(term, symbols), symbols); });
  return terms.empty() ? "0" : llvm::join(texts, " + ");
}

/// Returns a constraint as text without negative factors: "rows == columns + 1".
static std::string spellConstraint(AffineExpr value, bool isEquality, ArrayRef<rt::Symbol> symbols) {
  SmallVector<AffineExpr> added, subtracted;
  splitSum(value, added, subtracted);
  return spellSum(added, symbols) + (isEquality ? " == " : " >= ") + spellSum(subtracted, symbols);
}

/// Converts a set. The margin of `value == 0` is the smaller one of `value` and `-value`.
static rt::Condition convertSet(IntegerSet set, ArrayRef<rt::Symbol> symbols) {
  rt::Condition condition;
  for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
    bool isEquality = set.isEq(number);
    rt::Expr margin = convertExpr(set.getConstraint(number), symbols);
    if (isEquality)
      margin = rt::Expr::binary(rt::Expr::Op::Min, margin, rt::Expr::binary(rt::Expr::Op::Mul, margin, rt::Expr(-1)));
    condition.text += (number ? " and " : "") + spellConstraint(set.getConstraint(number), isEquality, symbols);
    condition.margin = number ? rt::Expr::binary(rt::Expr::Op::Min, condition.margin, margin) : margin;
  }
  return condition;
}

std::vector<rt::Condition> inlay::convertConditions(plan::ProgramOp program, ArrayRef<rt::Symbol> symbols) {
  std::vector<rt::Condition> conditions;
  auto declared = program->getAttrOfType<ArrayAttr>(InlayDialect::kConditionsAttr);
  if (!declared)
    return conditions;
  for (auto alternatives : declared.getAsRange<ArrayAttr>()) {
    rt::Condition &condition = conditions.emplace_back();
    for (auto [number, alternative] : llvm::enumerate(alternatives.getAsRange<IntegerSetAttr>())) {
      rt::Condition set = convertSet(alternative.getValue(), symbols);
      condition.text += (number ? " or " : "") + set.text;
      condition.margin =
          number ? rt::Expr::binary(rt::Expr::Op::Max, condition.margin, set.margin) : std::move(set.margin);
    }
  }
  return conditions;
}

FailureOr<std::vector<rt::Expr>> inlay::convertSizes(Operation *op, AffineMap map, ArrayRef<rt::Symbol> symbols) {
  if (map.getNumDims() || map.getNumSymbols() > symbols.size())
    return op->emitOpError("expected sizes of the program's ")
           << symbols.size() << " symbols, but got " << AffineMapAttr::get(map);
  std::vector<rt::Expr> sizes;
  for (AffineExpr expr : map.getResults())
    sizes.push_back(convertExpr(expr, symbols));
  return sizes;
}
