// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, bounds, simplifies, emits and prints the expressions of dims. Shape/ShapeAnalysis.cpp derives the dims of
// each op. The runtime evaluates its own form of these expressions in Runtime/Core/Plan/Expr.cpp.

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

static constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

//===-- Attributes ----------------------------------------------------------------------------------------------===//

SmallVector<SymbolAttr> inlay::getSymbols(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto symbols = op->getAttrOfType<ArrayAttr>(InlayDialect::kSymbolsAttr))
      return llvm::map_to_vector(symbols, [](Attribute symbol) { return cast<SymbolAttr>(symbol); });
  return {};
}

/// Returns the map with the dims of `value`, or null if there is none.
static AffineMapAttr findDimsAttr(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return nullptr;
    return function.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), InlayDialect::kDimsAttr);
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  auto dims = op->getAttrOfType<ArrayAttr>(InlayDialect::kDimsAttr);
  if (!dims)
    return nullptr;
  size_t number = result.getResultNumber() + (isa<SegmentOp>(op) ? op->getNumOperands() : 0);
  return number < dims.size() ? dyn_cast<AffineMapAttr>(dims[number]) : nullptr;
}

/// Returns the value that has the same dims as a block argument, or null.
static Value findLike(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto segment = dyn_cast_or_null<SegmentOp>(parent))
    return segment.getInputs()[number];
  if (!parent || !parent->hasAttr(InlayDialect::kDimsAttr))
    return nullptr;
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return number == 0 ? Value() : Value(loop.getResult(number - 1));
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return argument.getOwner() == loop.getBeforeBody() ? loop.getInits()[number] : Value(loop.getResult(number));
  return nullptr;
}

std::optional<SmallVector<AffineExpr>> inlay::getDims(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (type.hasStaticShape()) {
    // Shape inference denies the dims to the result of an op that can't run with the dims of its operands.
    AffineMapAttr map = isa<OpResult>(value) && type.getRank() > 0 ? findDimsAttr(value) : nullptr;
    if (map && map.getValue().getNumResults() == 0)
      return std::nullopt;
    return llvm::map_to_vector(type.getShape(),
                               [&](int64_t dim) { return getAffineConstantExpr(dim, type.getContext()); });
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (Value like = findLike(argument))
      return getDims(like);
  AffineMapAttr map = findDimsAttr(value);
  if (auto segment = value.getDefiningOp<SegmentOp>(); segment && !map) // The creator of the segment did not know the
                                                                        // dims.
    return getDims(segment.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
  if (!map || map.getValue().getNumResults() != type.getRank())
    return std::nullopt;
  return llvm::to_vector(map.getValue().getResults());
}

AffineMapAttr inlay::makeDimsAttr(MLIRContext *context, unsigned symbols, ArrayRef<AffineExpr> dims) {
  return AffineMapAttr::get(AffineMap::get(0, symbols, dims, context));
}

AffineMapAttr inlay::describeDims(Value value, unsigned symbols) {
  std::optional<SmallVector<AffineExpr>> dims = getDims(value);
  return makeDimsAttr(value.getContext(), symbols, dims ? ArrayRef(*dims) : ArrayRef<AffineExpr>());
}

void inlay::copyDims(Operation *from, Operation *to) {
  if (Attribute dims = from->getAttr(InlayDialect::kDimsAttr))
    to->setAttr(InlayDialect::kDimsAttr, dims);
}

//===-- Ranges --------------------------------------------------------------------------------------------------===//

static int64_t addSaturating(int64_t lhs, int64_t rhs) {
  if (lhs == kMin || lhs == kMax)
    return lhs;
  int64_t sum;
  if (rhs == kMin || rhs == kMax || !llvm::AddOverflow(lhs, rhs, sum))
    return rhs == kMin || rhs == kMax ? rhs : sum;
  return rhs < 0 ? kMin : kMax;
}

static int64_t mulSaturating(int64_t lhs, int64_t rhs) {
  int64_t product;
  if (lhs == 0 || rhs == 0)
    return 0;
  bool negative = (lhs < 0) != (rhs < 0), endless = lhs == kMin || lhs == kMax || rhs == kMin || rhs == kMax;
  if (endless || llvm::MulOverflow(lhs, rhs, product))
    return negative ? kMin : kMax;
  return product;
}

static ExprRange multiply(ExprRange lhs, ExprRange rhs) {
  int64_t products[] = {mulSaturating(lhs.min, rhs.min), mulSaturating(lhs.min, rhs.max),
                        mulSaturating(lhs.max, rhs.min), mulSaturating(lhs.max, rhs.max)};
  return {*llvm::min_element(products), *llvm::max_element(products)};
}

/// Returns the range of a quotient. For positive divisors, quotients are monotonic in both operands.
static ExprRange divide(ExprRange lhs, ExprRange rhs, bool up) {
  if (rhs.min < 1)
    return {kMin, kMax};
  auto quotient = [&](int64_t number, int64_t divisor) {
    if (number == kMin || number == kMax)
      return number;
    return up ? llvm::divideCeilSigned(number, divisor) : llvm::divideFloorSigned(number, divisor);
  };
  return {quotient(lhs.min, lhs.min < 0 ? rhs.min : rhs.max), quotient(lhs.max, lhs.max < 0 ? rhs.max : rhs.min)};
}

ExprRange inlay::getRange(AffineExpr expr, ArrayRef<SymbolAttr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() >= symbols.size())
      return {kMin, kMax};
    return {symbols[symbol.getPosition()].getMin(), symbols[symbol.getPosition()].getMax()};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {kMin, kMax};
  ExprRange lhs = getRange(binary.getLHS(), symbols), rhs = getRange(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {addSaturating(lhs.min, rhs.min), addSaturating(lhs.max, rhs.max)};
  case AffineExprKind::Mul:
    return multiply(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return divide(lhs, rhs, /*up=*/false);
  case AffineExprKind::CeilDiv:
    return divide(lhs, rhs, /*up=*/true);
  default: // A remainder has the sign of the divisor.
    if (rhs.min < 1)
      return {kMin, kMax};
    return {0, lhs.min >= 0 ? std::min(lhs.max, rhs.max - 1) : rhs.max - 1};
  }
}

//===-- Normal form ---------------------------------------------------------------------------------------------===//

namespace {
/// A number times factors that cannot be split: symbols, quotients and remainders, in the order of their text.
struct Term {
  int64_t number;
  SmallVector<AffineExpr> factors;
};
using Terms = SmallVector<Term>;
} // namespace

/// More terms, and factors of a term, than the sizes of models have. An expression with more stays unchanged.
static constexpr size_t kMaxTerms = 64, kMaxFactors = 16;

static std::string toText(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

/// Adds `term` to `terms`. Returns false if a number overflows or there are too many terms.
static bool addTerm(Terms &terms, Term term) {
  for (Term &known : terms)
    if (known.factors == term.factors)
      return !llvm::AddOverflow(known.number, term.number, known.number);
  terms.push_back(std::move(term));
  return terms.size() <= kMaxTerms;
}

static bool multiplyTerms(const Terms &lhs, const Terms &rhs, Terms &product) {
  for (const Term &left : lhs)
    for (const Term &right : rhs) {
      Term term{0, left.factors};
      term.factors.append(right.factors);
      if (term.factors.size() > kMaxFactors)
        return false;
      llvm::sort(term.factors, [](AffineExpr lhs, AffineExpr rhs) { return toText(lhs) < toText(rhs); });
      if (llvm::MulOverflow(left.number, right.number, term.number) || !addTerm(product, std::move(term)))
        return false;
    }
  return true;
}

/// Divides all numbers by `divisor`. Returns false if it is not a constant that divides all of them.
static bool divideTerms(Terms &terms, AffineExpr divisor) {
  auto constant = dyn_cast<AffineConstantExpr>(divisor);
  int64_t number = constant ? constant.getValue() : 0;
  if (number < 1 || !llvm::all_of(terms, [&](const Term &term) { return term.number % number == 0; }))
    return false;
  for (Term &term : terms)
    term.number /= number;
  return true;
}

static bool splitIntoTerms(AffineExpr expr, unsigned symbols, Terms &terms) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return addTerm(terms, {constant.getValue(), {}});
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return addTerm(terms, {1, {expr}});
  Terms lhs, rhs;
  if (expr.getKind() == AffineExprKind::Add)
    return splitIntoTerms(binary.getLHS(), symbols, terms) && splitIntoTerms(binary.getRHS(), symbols, terms);
  if (expr.getKind() == AffineExprKind::Mul)
    return splitIntoTerms(binary.getLHS(), symbols, lhs) && splitIntoTerms(binary.getRHS(), symbols, rhs) &&
           multiplyTerms(lhs, rhs, terms);
  AffineExpr dividend = simplifyExpr(binary.getLHS(), symbols), divisor = simplifyExpr(binary.getRHS(), symbols);
  if (expr.getKind() != AffineExprKind::Mod && splitIntoTerms(dividend, symbols, lhs) && divideTerms(lhs, divisor))
    return llvm::all_of(lhs, [&](Term &term) { return addTerm(terms, std::move(term)); });
  return addTerm(terms, {1, {getAffineBinaryOpExpr(expr.getKind(), dividend, divisor)}});
}

AffineExpr inlay::simplifyExpr(AffineExpr expr, unsigned symbols) {
  if (expr.isPureAffine())
    return simplifyAffineExpr(expr, 0, symbols);
  Terms terms;
  if (!splitIntoTerms(expr, symbols, terms))
    return expr;
  AffineExpr sum = getAffineConstantExpr(0, expr.getContext());
  auto byText = [](const Term &lhs, const Term &rhs) {
    auto spellFactors = [](const Term &term) { return llvm::join(llvm::map_range(term.factors, toText), "*"); };
    return spellFactors(lhs) < spellFactors(rhs);
  };
  llvm::sort(terms, byText);
  for (const Term &term : terms) {
    AffineExpr product = getAffineConstantExpr(1, expr.getContext());
    for (AffineExpr factor : term.factors)
      product = product * factor;
    if (term.number)
      sum = sum + product * term.number;
  }
  return sum;
}

bool inlay::areEqual(AffineExpr lhs, AffineExpr rhs, unsigned symbols) {
  return lhs == rhs || simplifyExpr(lhs - rhs, symbols) == getAffineConstantExpr(0, lhs.getContext());
}

AffineExpr inlay::broadcastDim(AffineExpr lhs, AffineExpr rhs, unsigned symbols) {
  AffineExpr one = getAffineConstantExpr(1, lhs.getContext());
  if (lhs == one || areEqual(lhs, rhs, symbols))
    return rhs;
  return rhs == one ? lhs : AffineExpr();
}

bool inlay::broadcastDims(SmallVectorImpl<AffineExpr> &result, ArrayRef<AffineExpr> dims, unsigned symbols) {
  if (dims.size() > result.size())
    result.insert(result.begin(), dims.size() - result.size(), getAffineConstantExpr(1, dims.front().getContext()));
  size_t offset = result.size() - dims.size();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (!(result[offset + i] = broadcastDim(result[offset + i], dim, symbols)))
      return false;
  return true;
}

bool inlay::isAtMost(AffineExpr lhs, AffineExpr rhs, ArrayRef<SymbolAttr> symbols) {
  return getRange(simplifyExpr(rhs - lhs, symbols.size()), symbols).min >= 0;
}

AffineExpr inlay::locateBound(int64_t bound, AffineExpr size, AffineMap sizes, unsigned &next,
                              ArrayRef<SymbolAttr> symbols) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, size.getContext()); };
  AffineExpr expr = ShapedType::isDynamic(bound) ? sizes.getResult(next++) : constant(bound);
  if (isAtMost(size, expr, symbols))
    return size;
  if (isAtMost(expr, constant(-1), symbols))
    expr = simplifyExpr(size + expr, symbols.size());
  return isAtMost(constant(0), expr, symbols) && isAtMost(expr, size, symbols) ? expr : AffineExpr();
}

int64_t inlay::getTypicalValue(AffineExpr expr, ArrayRef<SymbolAttr> symbols) {
  // For symbols without a typical size.
  constexpr int64_t kDefaultTypical = 64;
  SmallVector<SymbolAttr> fixed;
  for (SymbolAttr symbol : symbols) {
    int64_t typical =
        symbol.getTypical() ? symbol.getTypical() : std::clamp(kDefaultTypical, symbol.getMin(), symbol.getMax());
    fixed.push_back(SymbolAttr::get(symbol.getContext(), symbol.getName(), typical, typical, typical));
  }
  return getRange(expr, fixed).max;
}

//===-- Values --------------------------------------------------------------------------------------------------===//

static Value emitExpr(OpBuilder &builder, Location loc, AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return SymbolOp::create(builder, loc, symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emitExpr(builder, loc, binary.getLHS()), rhs = emitExpr(builder, loc, binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  default: { // The remainder has the sign of the divisor, as in the runtime.
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
  }
  }
}

OpFoldResult inlay::materializeExpr(OpBuilder &builder, Location loc, AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return builder.getIndexAttr(constant.getValue());
  return emitExpr(builder, loc, expr);
}

//===-- Text ----------------------------------------------------------------------------------------------------===//

/// Prints `expr`. `outer` is the precedence of its context: 0 in a sum, 1 in a product, 2 in a divisor.
static std::string spell(AffineExpr expr, ArrayRef<SymbolAttr> symbols, int outer) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < symbols.size() ? symbols[symbol.getPosition()].getName().str()
                                                 : "s" + std::to_string(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  bool isSum = expr.getKind() == AffineExprKind::Add;
  std::string lhs = spell(binary.getLHS(), symbols, isSum ? 0 : 1),
              rhs = spell(binary.getRHS(), symbols, isSum ? 0 : 2);
  StringRef name = isSum                                        ? " + "
                   : expr.getKind() == AffineExprKind::Mul      ? "*"
                   : expr.getKind() == AffineExprKind::FloorDiv ? "//"
                   : expr.getKind() == AffineExprKind::CeilDiv  ? " ceildiv "
                                                                : " % ";
  std::string text = lhs + name.str() + rhs;
  if (isSum && rhs.front() == '-')
    text = lhs + " - " + rhs.substr(1);
  return outer > (isSum ? 0 : 1) ? "(" + text + ")" : text;
}

std::string inlay::spellExpr(AffineExpr expr, ArrayRef<SymbolAttr> symbols) { return spell(expr, symbols, 0); }
