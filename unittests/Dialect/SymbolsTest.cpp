// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace inlay;

namespace {

class SymbolsTest : public ::testing::Test {
protected:
  SymbolsTest() { context.loadDialect<InlayDialect>(); }

  SymbolAttr symbol(StringRef name, int64_t min, int64_t max, int64_t typical = 0) {
    return SymbolAttr::get(&context, name, min, max, typical);
  }
  AffineExpr s(unsigned number) { return getAffineSymbolExpr(number, &context); }
  AffineExpr c(int64_t value) { return getAffineConstantExpr(value, &context); }

  /// Draws a random expression of two symbols with positive divisors.
  AffineExpr draw(std::mt19937 &random, int depth) {
    if (depth == 0)
      return random() % 3 == 0 ? c(static_cast<int64_t>(random() % 9) - 2) : s(random() % 2);
    AffineExpr lhs = draw(random, depth - 1);
    switch (random() % 5) {
    case 0:
      return lhs + draw(random, depth - 1);
    case 1:
      return lhs * draw(random, depth - 1);
    case 2:
      return lhs.floorDiv(1 + random() % 5);
    case 3:
      return lhs.ceilDiv(s(random() % 2));
    default:
      return lhs % (1 + random() % 5);
    }
  }

  /// Evaluates the expression for the given values of s0 and s1.
  static int64_t evaluate(AffineExpr expr, int64_t first, int64_t second) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return symbol.getPosition() == 0 ? first : second;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t lhs = evaluate(binary.getLHS(), first, second), rhs = evaluate(binary.getRHS(), first, second);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return lhs + rhs;
    case AffineExprKind::Mul:
      return lhs * rhs;
    case AffineExprKind::FloorDiv:
      return llvm::divideFloorSigned(lhs, rhs);
    case AffineExprKind::CeilDiv:
      return llvm::divideCeilSigned(lhs, rhs);
    default:
      return llvm::mod(lhs, rhs);
    }
  }

  MLIRContext context;
};

TEST_F(SymbolsTest, RangesHoldEveryValue) {
  SymbolAttr symbols[] = {symbol("a", 1, 6), symbol("b", 2, 5)};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    AffineExpr expr = draw(random, 3), other = draw(random, 2);
    ExprRange range = getRange(expr, symbols);
    bool atMost = isAtMost(expr, other, symbols);
    AffineExpr simple = simplifyExpr(expr, 2);
    for (int64_t a = 1; a <= 6; ++a)
      for (int64_t b = 2; b <= 5; ++b) {
        int64_t value = evaluate(expr, a, b);
        ASSERT_TRUE(range.min <= value && value <= range.max) << spellExpr(expr, symbols) << " at " << a << ", " << b;
        ASSERT_EQ(value, evaluate(simple, a, b)) << spellExpr(expr, symbols) << " as " << spellExpr(simple, symbols);
        ASSERT_TRUE(!atMost || value <= evaluate(other, a, b))
            << spellExpr(expr, symbols) << " <= " << spellExpr(other, symbols) << " at " << a << ", " << b;
      }
  }
}

TEST_F(SymbolsTest, EqualSizesAreOneExpression) {
  EXPECT_EQ(simplifyExpr(s(0) * (s(1) + 1) - s(0), 2), simplifyExpr(s(1) * s(0), 2));
  EXPECT_EQ(simplifyExpr((s(0) * s(1) * 6).floorDiv(3), 2), simplifyExpr(s(0) * s(1) * 2, 2));
  EXPECT_EQ(simplifyExpr(s(0) * s(1) - s(1) * s(0), 2), c(0));
  EXPECT_NE(simplifyExpr(s(0) * s(0), 2), simplifyExpr(s(0) * s(1), 2));
}

TEST_F(SymbolsTest, RangesWithoutEndStaySo) {
  constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();
  SymbolAttr symbols[] = {symbol("a", 0, kEndless), symbol("b", 1, kEndless)};
  EXPECT_EQ(getRange(s(0) * s(1) + 3, symbols).min, 3);
  EXPECT_EQ(getRange(s(0) * s(1) + 3, symbols).max, kEndless);
  EXPECT_EQ(getRange((s(0) - 5).floorDiv(2), symbols).max, kEndless);
  EXPECT_EQ(getRange(s(1).floorDiv(s(0)), symbols).max, kEndless); // The divisor may be 0.
  EXPECT_TRUE(isAtMost(c(1), s(1), symbols));
  EXPECT_FALSE(isAtMost(c(1), s(0), symbols));
  EXPECT_TRUE(isAtMost(s(0), s(0) + s(1), symbols));
}

TEST_F(SymbolsTest, TypicalValuesAreWithinRange) {
  SymbolAttr symbols[] = {symbol("a", 1, 8), symbol("b", 1, 512, 128), symbol("c", 100, 200)};
  EXPECT_EQ(getTypicalValue(s(0), symbols), 8);
  EXPECT_EQ(getTypicalValue(s(1) * 2 + 1, symbols), 257);
  EXPECT_EQ(getTypicalValue(s(2), symbols), 100);
}

TEST_F(SymbolsTest, SpellsLikePython) {
  SymbolAttr symbols[] = {symbol("batch", 1, 8), symbol("n", 1, 8)};
  EXPECT_EQ(spellExpr(s(0) * 2 + 1, symbols), "batch*2 + 1");
  EXPECT_EQ(spellExpr(s(0) - 1, symbols), "batch - 1");
  EXPECT_EQ(spellExpr((s(0) + 1) * s(1), symbols), "(batch + 1)*n");
  EXPECT_EQ(spellExpr(s(0).floorDiv(s(1) * 2), symbols), "batch//(n*2)");
  EXPECT_EQ(spellExpr((s(0) + s(1)) % 4, symbols), "(batch + n) % 4");
}

} // namespace
