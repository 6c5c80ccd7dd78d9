// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of steps with bodies. Decisions at load time (elided copies, grouped launches, shared memory) must not change
// results: random programs are compared with an interpreter that gives each buffer separate memory and runs the list in
// order.

#include "../FakeDevice.h"
#include "../RandomPlan.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct ControlFlowTest : testing::TestWithParam<bool> {
  uint32_t host(const std::string &name) { return builder.temporary(name, MemorySpace::Host, {Expr(kLanes)}); }
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(kLanes)}); }

  StatusOr<std::unique_ptr<Program>> load() {
    return Program::load(builder.plan, std::make_shared<FakeDevice>(GetParam()), std::make_shared<LaneLibrary>());
  }
  std::vector<float> run(std::vector<float> x) {
    auto program = load();
    EXPECT_TRUE(program.isOk()) << program.status().message();
    std::vector<float> y(kLanes);
    Status status = (*program)->call({view(x)}, {view(y)});
    EXPECT_TRUE(status.isOk()) << status.message();
    return y;
  }

  PlanBuilder builder;
  LaneFunctions functions{builder};
  uint32_t x = builder.input("x", {Expr(kLanes)}), y = builder.output("y", {Expr(kLanes)});
};

} // namespace

TEST_P(ControlFlowTest, ABranchRunsOneOfItsBodies) {
  uint32_t condition = builder.number("small", ElementType::Bool);
  builder.call(functions.isSmall, {x, condition});
  builder.control(StepKind::Branch, {condition},
                  {[&] { builder.call(functions.addOne, {x, y}); }, [&] { builder.call(functions.halve, {x, y}); }});
  EXPECT_EQ(run({1, 2, 3, 4}), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(run({30, 2, 3, 4}), (std::vector<float>{15, 1, 1.5, 2}));
}

TEST_P(ControlFlowTest, ALoopRunsWhileItsConditionHoldsEvenNever) {
  uint32_t condition = builder.number("small", ElementType::Bool), a = device("a"), b = device("b"), h = host("h");
  builder.copy(x, a);
  builder.control(StepKind::While, {condition},
                  {[&] {
                     builder.copy(a, h);
                     builder.call(functions.isSmall, {h, condition});
                   },
                   [&] {
                     builder.launch(functions.twice, {a, b});
                     builder.copy(b, a);
                   }});
  builder.copy(a, y);
  EXPECT_EQ(run({3, 1, 1, 1}), (std::vector<float>{24, 8, 8, 8}));
  EXPECT_EQ(run({25, 1, 1, 1}), (std::vector<float>{25, 1, 1, 1}));
}

TEST_P(ControlFlowTest, ALoopThatNeverEndsIsStopped) {
  uint32_t condition = builder.number("small", ElementType::Bool);
  builder.control(StepKind::While, {condition},
                  {[&] { builder.call(functions.isSmall, {x, condition}); }, [&] { builder.copy(x, y); }});
  auto program = load();
  std::vector<float> in = {1, 2, 3, 4}, out(kLanes);
  EXPECT_EQ((*program)->call({view(in)}, {view(out)}).message(),
            "loop 'step0': ran 100 times without ending, which is its limit (max_loop_iterations)");
  in[0] = 30;
  EXPECT_TRUE((*program)->call({view(in)}, {view(out)}).isOk()) << "later calls work";
}

TEST_P(ControlFlowTest, ACallerMayStopALoop) {
  uint32_t position = builder.number("k", ElementType::I64);
  builder.copy(x, y);
  builder.control(StepKind::For, {position, builder.constant(0), builder.constant(INT64_MAX), builder.constant(1)},
                  {[&] { builder.call(functions.halve, {x, y}); }});
  auto program = load();
  int asked = 0;
  (*program)->stopWhen([&] { return ++asked == 2; });
  std::vector<float> in(kLanes), out(kLanes);
  Status status = (*program)->call({view(in)}, {view(out)});
  EXPECT_EQ(status.code(), StatusCode::Stopped);
  EXPECT_EQ(status.message(), "loop 'step1': stopped by its caller");
  EXPECT_EQ(asked, 2);
}

TEST_P(ControlFlowTest, ACountedLoopGoesOverItsRange) {
  uint32_t position = builder.number("k", ElementType::I64), sum = host("sum"), step = host("step"),
           next = host("next");
  builder.copy(x, sum);
  builder.copy(x, y);
  builder.control(StepKind::For, {position, builder.constant(2), builder.constant(9), builder.constant(3)}, {[&] {
                    builder.call(functions.spread, {position, step});
                    builder.call(functions.addOne, {sum, next});
                    builder.copy(next, sum);
                    builder.copy(step, y);
                  }});
  EXPECT_EQ(run({0, 0, 0, 0}), (std::vector<float>{8, 8, 8, 8}));
  auto program = load();
  std::vector<float> in(kLanes), out(kLanes);
  auto profile = (*program)->profile({view(in)}, {view(out)});
  ASSERT_TRUE(profile.isOk());
  EXPECT_EQ((*profile)[0].runs, 1u);
  EXPECT_EQ((*profile)[3].runs, 3u) << "2, 5 and 8";
}

TEST_P(ControlFlowTest, ACountedLoopEndsAtTheLastNumberThereIs) {
  uint32_t position = builder.number("k", ElementType::I64);
  builder.copy(x, y);
  builder.control(StepKind::For,
                  {position, builder.constant(INT64_MAX - 1), builder.constant(INT64_MAX), builder.constant(5)},
                  {[&] { builder.call(functions.halve, {x, y}); }});
  EXPECT_EQ(run({2, 4, 6, 8}), (std::vector<float>{1, 2, 3, 4}));
}

TEST_P(ControlFlowTest, AStepOfAtLeastOneIsExpected) {
  uint32_t position = builder.number("k", ElementType::I64);
  builder.copy(x, y);
  builder.control(StepKind::For, {position, builder.constant(0), builder.constant(4), builder.constant(0)}, {[] {}});
  auto program = load();
  std::vector<float> in(kLanes), out(kLanes);
  EXPECT_EQ((*program)->call({view(in)}, {view(out)}).message(),
            "loop 'step1': expected a step of at least 1, but got 0");
}

TEST_P(ControlFlowTest, WhatOneRunMakesForItselfSharesMemory) {
  uint32_t position = builder.number("k", ElementType::I64), sum = device("sum");
  builder.copy(x, sum);
  builder.control(StepKind::For, {position, builder.constant(0), builder.constant(2), builder.constant(1)}, {[&] {
                    uint32_t last = sum;
                    for (int i = 0; i < 6; ++i) {
                      uint32_t next = device("t" + std::to_string(i));
                      builder.launch(functions.twice, {last, next});
                      last = next;
                    }
                    builder.copy(last, sum);
                  }});
  builder.copy(sum, y);
  auto fake = std::make_shared<FakeDevice>(GetParam());
  auto program = Program::load(builder.plan, fake, std::make_shared<LaneLibrary>());
  std::vector<float> in = {1, 2, 3, 4}, out(kLanes);
  ASSERT_TRUE((*program)->call({view(in)}, {view(out)}).isOk());
  EXPECT_EQ(out, (std::vector<float>{4096, 8192, 12288, 16384}));
  EXPECT_EQ(fake->allocatedBytes, 48u)
      << "the carried value, and two of six temporaries that are live at the same time";
}

TEST_P(ControlFlowTest, BodiesThatDoNotFitAreRefused) {
  uint32_t condition = builder.number("small", ElementType::Bool);
  builder.call(functions.isSmall, {x, condition});
  uint32_t branch = builder.control(StepKind::Branch, {condition},
                                    {[&] { builder.copy(x, y); }, [&] { builder.call(functions.halve, {x, y}); }});
  EXPECT_TRUE(checkPlan(*builder.plan).isOk());
  auto refusal = [&] { return checkPlan(*builder.plan).message(); };
  std::vector<uint32_t> &bodies = builder.plan->steps[branch].bodies;
  bodies = {1};
  EXPECT_EQ(refusal(), "step 1 ('step1'): expected 2 bodies, but got 1");
  bodies = {1, 2};
  EXPECT_EQ(refusal(), "step 1 ('step1'): expected bodies of at most 1 steps, but got one of 2");
  bodies = {1, 1};
  builder.plan->steps[0].bodies = {1};
  EXPECT_EQ(refusal(), "step 0 ('step0'): expected 0 bodies, but got 1");
  builder.plan->steps[0].bodies = {};
  builder.plan->steps[branch].buffers = {x};
  EXPECT_EQ(refusal(), "step 1 ('step1'): expected buffer 0 ('x') to be one bool, but it is float32[4]");
  builder.plan->steps[branch].kind = StepKind::For;
  EXPECT_EQ(refusal(), "step 1 ('step1'): expected 4 buffers, but got 1");
}

TEST(ControlFlow, DeepNestingIsRefused) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(1)}), y = builder.output("y", {Expr(1)});
  uint32_t condition = builder.number("c", ElementType::Bool);
  std::function<void(int)> nest = [&](int depth) {
    if (depth == 0)
      builder.copy(x, y);
    else
      builder.control(StepKind::Branch, {condition}, {[&] { nest(depth - 1); }, [] {}});
  };
  nest(300);
  EXPECT_EQ(checkPlan(*builder.plan).message(), "step 257 ('step257'): bodies are nested more than 256 deep");
}

//===-- Random programs -----------------------------------------------------------------------------------------===//

TEST_P(ControlFlowTest, RandomProgramsAreRunAsTheyAreWritten) {
  int bodies = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomPlan random(seed);
    auto program =
        Program::load(random.builder.plan, std::make_shared<FakeDevice>(GetParam()), std::make_shared<LaneLibrary>());
    ASSERT_TRUE(program.isOk()) << "seed " << seed << ": " << program.status().message();
    for (float start : {1.0f, 18.0f, 40.0f}) {
      std::vector<float> x = {start, start + 1, -2, 0.5}, y(kLanes);
      ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
      ASSERT_EQ(y, Interpreter(*random.builder.plan).run(x)) << "seed " << seed << " from " << start;
    }
    for (const Step &step : random.builder.plan->steps)
      bodies += step.bodies.size();
  }
  EXPECT_GT(bodies, 5000);
}

INSTANTIATE_TEST_SUITE_P(UnifiedMemory, ControlFlowTest, testing::Bool());
