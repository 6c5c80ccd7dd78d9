// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Core/Expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace inlay::rt;
using Op = Expr::Op;

static constexpr int64_t minimum = std::numeric_limits<int64_t>::min();
static constexpr int64_t maximum = std::numeric_limits<int64_t>::max();

/// Evaluates `lhs op rhs` with both operands as dims, so that nothing is folded.
static StatusOr<int64_t> compute(Op op, int64_t lhs, int64_t rhs) {
  return Expr::binary(op, Expr::dim(0, 0), Expr::dim(0, 1)).evaluate({{lhs, rhs}});
}

TEST(Expr, ComputesEachOperation) {
  EXPECT_EQ(*compute(Op::Add, 7, -9), -2);
  EXPECT_EQ(*compute(Op::Mul, 7, -9), -63);
  EXPECT_EQ(*compute(Op::Min, 7, -9), -9);
  EXPECT_EQ(*compute(Op::Max, 7, -9), 7);
}

TEST(Expr, DivisionsRoundAsNamedForAllSigns) {
  for (int64_t lhs : {-7, -6, -1, 0, 1, 6, 7}) {
    for (int64_t rhs : {-3, -1, 1, 3}) {
      double exact = double(lhs) / double(rhs);
      EXPECT_EQ(*compute(Op::FloorDiv, lhs, rhs), int64_t(std::floor(exact)));
      EXPECT_EQ(*compute(Op::CeilDiv, lhs, rhs), int64_t(std::ceil(exact)));
      EXPECT_EQ(*compute(Op::Mod, lhs, rhs), lhs - rhs * int64_t(std::floor(exact)));
    }
  }
}

TEST(Expr, RefusesOverflowAndDivisionByZero) {
  EXPECT_EQ(compute(Op::Add, maximum, 1).status().message(), "add(9223372036854775807, 1) overflows 64 bits");
  EXPECT_FALSE(compute(Op::Mul, maximum, 2).isOk());
  EXPECT_FALSE(compute(Op::FloorDiv, minimum, -1).isOk());
  EXPECT_FALSE(compute(Op::CeilDiv, minimum, -1).isOk());
  EXPECT_EQ(*compute(Op::Mod, minimum, -1), 0);
  EXPECT_EQ(compute(Op::Mod, 5, 0).status().message(), "mod(5, 0) divides by zero");
}

TEST(Expr, FoldsConstantsAndNeutralOperands) {
  int64_t value = 0;
  EXPECT_TRUE(Expr::binary(Op::CeilDiv, Expr(100), Expr(64)).isConstant(value));
  EXPECT_EQ(value, 2);
  Expr dim = Expr::dim(1, 2);
  EXPECT_EQ(Expr::binary(Op::Mul, dim, Expr(1)).code().size(), 1u);
  EXPECT_EQ(Expr::binary(Op::Add, Expr(0), dim).code().size(), 1u);
  EXPECT_EQ(Expr::binary(Op::FloorDiv, Expr(1), dim).code().size(), 3u);
  EXPECT_EQ(Expr::binary(Op::FloorDiv, dim, Expr(1)).code().size(), 1u);
  EXPECT_EQ(Expr::binary(Op::CeilDiv, dim, Expr(1)).code().size(), 1u);
  EXPECT_EQ(Expr::binary(Op::Mod, dim, Expr(1)).code().size(), 3u);
}

TEST(Expr, AFoldThatFailsStaysAndFailsWhenEvaluated) {
  Expr expr = Expr::binary(Op::FloorDiv, Expr(1), Expr(0));
  int64_t value = 0;
  EXPECT_FALSE(expr.isConstant(value));
  EXPECT_FALSE(expr.evaluate({}).isOk());
}

TEST(Expr, RefusesMalformedCode) {
  for (const Expr &expr : {Expr(std::vector<Expr::Instruction>{}), Expr({{Op::Add, 0, 0}}),
                           Expr({{Op::Constant, 1, 0}, {Op::Constant, 2, 0}}), Expr({{static_cast<Op>(77), 0, 0}}),
                           Expr({{Op::Add, 0, 0}, {Op::Constant, 1, 0}, {Op::Constant, 2, 0}})}) {
    EXPECT_FALSE(expr.evaluate({}).isOk());
    EXPECT_FALSE(expr.check({}).isOk());
  }
}

TEST(Expr, RefusesDimsThatDoNotExist) {
  EXPECT_EQ(Expr::dim(2, 0).evaluate({{1}}).status().message(), "expression reads input 2, but there are 1");
  EXPECT_EQ(Expr::dim(0, -1).evaluate({{1}}).status().message(),
            "expression reads dim -1 of input 0, which has rank 1");
  EXPECT_TRUE(Expr::dim(0, 0).check({1}).isOk());
  EXPECT_FALSE(Expr::dim(0, 1).check({1}).isOk());
  EXPECT_FALSE(Expr::dim(-1, 0).check({1}).isOk());
}
