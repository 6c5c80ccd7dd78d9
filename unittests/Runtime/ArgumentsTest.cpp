// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a caller who passes the wrong tensors reads.

#include "PlanBuilder.h"

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

} // namespace

TEST_F(ArgumentsTest, RightOnesRun) {
  EXPECT_EQ(error(good(in), good(out)), "");
  EXPECT_EQ(in, out);
}

TEST_F(ArgumentsTest, WrongRankAndElement) {
  EXPECT_EQ(error({in.data(), ElementType::F64, {6}}, good(out)),
            "argument 'x' (number 0): expected float32[?x3], but got float64[6]");
}

TEST_F(ArgumentsTest, WrongElementAlone) {
  EXPECT_EQ(error({in.data(), ElementType::I32, {2, 3}}, good(out)),
            "argument 'x' (number 0): expected float32[?x3], but got int32[2x3]");
}

TEST_F(ArgumentsTest, WrongDim) {
  EXPECT_EQ(error({in.data(), ElementType::F32, {2, 4}}, good(out)),
            "argument 'x' (number 0): expected float32[2x3], but got float32[2x4]");
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
  EXPECT_EQ(error({nullptr, ElementType::F32, {2, 3}}, good(out)), "argument 'x' (number 0): its data is null");
  EXPECT_EQ(error(good(in), {nullptr, ElementType::F32, {2, 3}}), "result 'y' (number 0): its data is null");
}

TEST_F(ArgumentsTest, OverlappingMemory) {
  EXPECT_EQ(error(good(in), good(in)), "result 'y' (number 0) overlaps argument 'x' (number 0) in memory");
}

TEST_F(ArgumentsTest, Counts) {
  EXPECT_EQ(program->call({}, {good(out)}).message(), "expected 1 argument, but got 0");
  EXPECT_EQ(program->call({good(in)}, {}).message(), "expected 1 result, but got 0");
}

TEST_F(ArgumentsTest, OutputDimsChecksItsInputs) {
  EXPECT_EQ((*program->outputDims({{5, 3}}))[0], (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(program->outputDims({{5}}).status().message(),
            "argument 'x' (number 0): expected float32[?x3], but got float32[5]");
}
