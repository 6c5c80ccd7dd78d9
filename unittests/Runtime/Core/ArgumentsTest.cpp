// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the messages for wrong tensors.

#include "../PlanBuilder.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// y = x for x of float32[?x3].
struct ArgumentsTest : testing::Test {
  ArgumentsTest() {
    uint32_t x = builder.input("x", {Expr::dim(0, 0), Expr(3)});
    uint32_t y = builder.output("y", {Expr::dim(0, 0), Expr(3)});
    builder.copy(x, y);
    program = std::move(*Program::load(builder.plan, nullptr, nullptr));
  }
  std::string error(const TensorView &x, const TensorView &y) { return program->call({x}, {y}).message(); }
  TensorView good(std::vector<float> &data) { return {data.data(), ElementType::F32, {2, 3}}; }

  PlanBuilder builder;
  std::unique_ptr<Program> program;
  std::vector<float> in = {1, 2, 3, 4, 5, 6}, out = std::vector<float>(6);
};

/// Programs with the symbols s (2 to 8; dim 1 of the first input is 2*s + 1) and n (from 0 on).
struct SymbolsTest : testing::Test {
  SymbolsTest() {
    builder.plan->symbols = {{"s", 2, 8, 0, 1, 2, 1}, {"n", 0, INT64_MAX, 0, 0}};
    s = valueOf(builder.plan->symbols[0]);
    n = valueOf(builder.plan->symbols[1]);
    width = Expr::binary(Expr::Op::Add, Expr::binary(Expr::Op::Mul, s, Expr(2)), Expr(1));
    builder.input("x", {n, width});
    builder.input("y", {Expr::binary(Expr::Op::Mul, s, n), Expr(3)});
    builder.input("z", {Expr::binary(Expr::Op::FloorDiv, Expr(100), n)});
  }
  std::string error(const InputDims &dims) {
    auto program = Program::load(builder.plan, nullptr, nullptr);
    return program.isOk() ? (*program)->outputDims(dims).status().message() : program.status().message();
  }

  PlanBuilder builder;
  Expr s, n, width;
};

} // namespace

TEST_F(ArgumentsTest, RightOnesRun) {
  EXPECT_EQ(error(good(in), good(out)), "");
  EXPECT_EQ(in, out);
}

TEST_F(ArgumentsTest, WrongRankAndElement) {
  EXPECT_EQ(error({in.data(), ElementType::F64, {6}}, good(out)),
            "input 'x': expected float32[?x3], but got float64[6]");
}

TEST_F(ArgumentsTest, WrongElementAlone) {
  EXPECT_EQ(error({in.data(), ElementType::I32, {2, 3}}, good(out)),
            "input 'x': expected float32[?x3], but got int32[2x3]");
}

TEST_F(ArgumentsTest, WrongDim) {
  EXPECT_EQ(error({in.data(), ElementType::F32, {2, 4}}, good(out)),
            "input 'x': expected float32[?x3], but got float32[2x4]");
}

TEST_F(ArgumentsTest, EmptyTensorsMayLieNowhere) {
  EXPECT_EQ(error({nullptr, ElementType::F32, {0, 3}}, {nullptr, ElementType::F32, {0, 3}}), "");
}

TEST_F(ArgumentsTest, NegativeAndHugeDims) {
  EXPECT_NE(error({in.data(), ElementType::F32, {-2, 3}}, good(out)).find("has a dim of -2"), std::string::npos);
  EXPECT_NE(error({in.data(), ElementType::F32, {INT64_MAX / 2, 3}}, good(out)).find("overflows"), std::string::npos);
}

TEST_F(ArgumentsTest, WrongResult) {
  EXPECT_EQ(error(good(in), {out.data(), ElementType::F32, {3, 3}}),
            "result 'y' (number 0): expected float32[2x3], but got float32[3x3]");
}

TEST_F(ArgumentsTest, NullData) {
  EXPECT_EQ(error({nullptr, ElementType::F32, {2, 3}}, good(out)), "input 'x': its data is null");
  EXPECT_EQ(error(good(in), {nullptr, ElementType::F32, {2, 3}}), "result 'y' (number 0): its data is null");
}

TEST_F(ArgumentsTest, OverlappingMemory) {
  EXPECT_EQ(error(good(in), good(in)), "result 'y' (number 0) overlaps input 'x' in memory");
}

TEST_F(ArgumentsTest, Counts) {
  EXPECT_EQ(program->call({}, {good(out)}).message(), "expected 1 input, but got 0");
  EXPECT_EQ(program->call({good(in)}, {}).message(), "expected 1 result, but got 0");
}

TEST_F(ArgumentsTest, OutputDimsChecksItsInputs) {
  EXPECT_EQ((*program->outputDims({{5, 3}}))[0], (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(program->outputDims({{5}}).status().message(), "input 'x': expected float32[?x3], but got float32[5]");
}

TEST_F(SymbolsTest, DimsThatFitPass) {
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}), "");
  EXPECT_EQ(error({{4, 17}, {32, 3}, {25}}), "");
}

TEST_F(SymbolsTest, RanksAndConstantDimsAreNamedBySymbols) {
  EXPECT_EQ(error({{4}, {8, 3}, {25}}), "input 'x': expected float32[n x 2*s + 1], but got float32[4]");
  EXPECT_EQ(error({{4, 5}, {8, 4}, {25}}), "input 'y': expected float32[s*n x 3], but got float32[8x4]");
}

TEST_F(SymbolsTest, RangesAreChecked) {
  EXPECT_EQ(error({{4, 19}, {36, 3}, {25}}), "input 'x': dim 1 ('2*s + 1') is 19, so 's' is 9, but expected 2 to 8");
  EXPECT_EQ(error({{4, 3}, {4, 3}, {25}}), "input 'x': dim 1 ('2*s + 1') is 3, so 's' is 1, but expected 2 to 8");
  builder.plan->symbols[1].min = 5;
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}), "input 'x': dim 0 ('n') is 4, but expected at least 5");
  builder.plan->symbols[1].max = 5;
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}), "input 'x': dim 0 ('n') is 4, but expected 5");
  builder.plan->symbols[1].max = 8;
  EXPECT_EQ(error({{9, 5}, {18, 3}, {11}}), "input 'x': dim 0 ('n') is 9, but expected 5 to 8");
}

TEST_F(SymbolsTest, DisagreementNamesBothDims) {
  EXPECT_EQ(error({{4, 6}, {8, 3}, {25}}), "input 'x': dim 1 is 6, but expected '2*s + 1' for a whole number");
  EXPECT_EQ(error({{4, 5}, {9, 3}, {25}}),
            "input 'y': dim 0 is 9, but 's*n' is 8 according to dim 1 of input 'x' and dim 0 of input 'x'");
  EXPECT_EQ(error({{4, 5}, {8, 3}, {24}}),
            "input 'z': dim 0 is 24, but '100//n' is 25 according to dim 0 of input 'x'");
  EXPECT_EQ(error({{0, 5}, {0, 3}, {24}}),
            "input 'z': dim 0 is 24, but expected '100//n': floordiv(100, 0) divides by zero");
}

TEST_F(SymbolsTest, ConditionsAreChecked) {
  builder.plan->conditions = {{"n >= s", Expr::binary(Expr::Op::Add, n, Expr::binary(Expr::Op::Mul, s, Expr(-1)))},
                              {"n >= 4", Expr::binary(Expr::Op::Add, n, Expr(-4))}};
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}), "");
  EXPECT_EQ(error({{4, 9}, {16, 3}, {25}}), "");
  EXPECT_EQ(error({{4, 11}, {20, 3}, {25}}), "expected sizes for which n >= s, but 's' is 5 and 'n' is 4");
  EXPECT_EQ(error({{3, 5}, {6, 3}, {33}}), "expected sizes for which n >= 4, but 'n' is 3");
  builder.plan->conditions = {
      {"n % (s - 2) == 0", Expr::binary(Expr::Op::Mod, n, Expr::binary(Expr::Op::Add, s, Expr(-2)))}};
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}),
            "expected sizes for which n % (s - 2) == 0, but 's' is 2 and 'n' is 4: mod(4, 0) divides by zero");
  builder.plan->conditions = {{"1 == 0", Expr(-1)}};
  EXPECT_EQ(error({{4, 5}, {8, 3}, {25}}), "expected sizes for which 1 == 0, but none meet it");
}

TEST_F(SymbolsTest, ValuesThatOverflowAreRefused) {
  builder.plan->symbols[0].offset = INT64_MIN;
  EXPECT_NE(error({{4, 5}, {8, 3}, {25}}).find("overflows"), std::string::npos);
}

TEST_F(SymbolsTest, DimsFromValues) {
  EXPECT_EQ(*inputDimsFor(*builder.plan, {2, 4}), (InputDims{{4, 5}, {8, 3}, {25}}));
  EXPECT_NE(inputDimsFor(*builder.plan, {INT64_MAX, 4}).status().message().find("overflow"), std::string::npos);
  EXPECT_FALSE(inputDimsFor(*builder.plan, {2, 0}).isOk());
}

TEST(Spell, IsInfixByNames) {
  using Op = Expr::Op;
  std::vector<Symbol> symbols = {{"a", 0, 9, 0, 0}, {"b", 0, 9, 0, 1, 3, -1}};
  Expr a = valueOf(symbols[0]), b = valueOf(symbols[1]);
  auto text = [&](Op op, const Expr &lhs, const Expr &rhs) { return spell(Expr::binary(op, lhs, rhs), symbols); };
  EXPECT_EQ(text(Op::Add, a, b), "a + b");
  EXPECT_EQ(text(Op::Add, a, Expr(-3)), "a - 3");
  EXPECT_EQ(text(Op::Mul, Expr::binary(Op::Add, a, Expr(1)), Expr(4)), "4*(a + 1)");
  EXPECT_EQ(text(Op::Mul, a, b), "a*b");
  EXPECT_EQ(text(Op::FloorDiv, a, Expr::binary(Op::Mul, b, Expr(2))), "a//(2*b)");
  EXPECT_EQ(text(Op::Mod, Expr::binary(Op::Mul, a, b), Expr(7)), "a*b % 7");
  EXPECT_EQ(text(Op::CeilDiv, Expr::dim(3, 1), Expr(64)), "ceildiv(d3.1, 64)");
  EXPECT_EQ(text(Op::Max, a, Expr::binary(Op::Min, b, Expr(64))), "max(a, min(b, 64))");
  std::vector<Symbol> nameless = {{"", 0, 8, 0, 0}};
  EXPECT_EQ(spell(Expr::binary(Op::Add, Expr(2), Expr::dim(0, 0)), nameless), "2 + d0.0");
  EXPECT_EQ(spell(Expr(std::vector<Expr::Instruction>{}), symbols), "<malformed>");
  EXPECT_EQ(spell(Expr({{Op::Add, 0, 0}}), symbols), "<malformed>");
  EXPECT_EQ(spell(Expr({{Op::Constant, 1, 0}, {Op::Constant, 2, 0}}), symbols), "<malformed>");
  EXPECT_EQ(spell(Expr({{static_cast<Op>(77), 0, 0}}), symbols), "<malformed>");
}
