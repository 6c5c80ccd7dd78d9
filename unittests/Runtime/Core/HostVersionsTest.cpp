// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that plans after moveToHost compute the same, with the interpreter and with the executor.

#include "../FakeDevice.h"
#include "../RandomPlan.h"

#include "inlay/Runtime/Core/HostVersions.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct HostVersionsTest : testing::Test {
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(kLanes)}); }
  Plan move(const std::vector<uint32_t> &engines) {
    EXPECT_EQ(checkPlan(*builder.plan).message(), "");
    StatusOr<Plan> moved = moveToHost(*builder.plan, engines);
    EXPECT_TRUE(moved.isOk()) << moved.status().message();
    EXPECT_EQ(checkPlan(*moved).message(), "");
    return *moved;
  }
  std::string refusal(const std::vector<uint32_t> &engines) {
    return moveToHost(*builder.plan, engines).status().message();
  }
  static std::string kinds(const Plan &plan) {
    std::string text;
    for (const Step &step : plan.steps)
      text += (text.empty() ? "" : " ") + std::string(name(step.kind));
    return text;
  }

  PlanBuilder builder;
  LaneFunctions functions{builder};
  uint32_t x = builder.input("x", {Expr(kLanes)}), y = builder.output("y", {Expr(kLanes)});
};

/// Returns a device without and a device with unified memory, or null if the plan needs no device.
std::vector<std::shared_ptr<Device>> devices(bool needed) {
  if (!needed)
    return {nullptr};
  return {std::make_shared<FakeDevice>(false), std::make_shared<FakeDevice>(true)};
}

} // namespace

TEST_F(HostVersionsTest, MovingAllLeavesNothingToADevice) {
  uint32_t a = device("a"), b = device("b");
  builder.copy(x, a);
  builder.launch(functions.twice, {a, b}, {0});
  builder.copy(b, y, {1});
  Plan moved = move({functions.twice});
  EXPECT_EQ(kinds(moved), "copy host copy");
  for (const Buffer &buffer : moved.buffers)
    EXPECT_EQ(buffer.space, MemorySpace::Host) << buffer.name;
}

TEST_F(HostVersionsTest, BuffersThatOtherEnginesUseAreCopiedAroundTheCall) {
  uint32_t a = device("a"), b = device("b"), c = device("c");
  builder.copy(x, a);
  builder.launch(functions.otherTwice, {a, b}, {0});
  builder.launch(functions.twice, {b, c}, {1});
  builder.launch(functions.otherTwice, {c, a}, {2});
  builder.copy(a, y, {3});
  Plan moved = move({functions.twice});
  EXPECT_EQ(kinds(moved), "copy engine copy host copy engine copy");
  EXPECT_EQ(moved.steps[3].after, (std::vector<uint32_t>{1, 2}))
      << "after the launch's predecessor and the copy to the host";
  EXPECT_EQ(moved.steps[5].after, (std::vector<uint32_t>{3, 4})) << "after the call and the copy back";
  EXPECT_EQ(Interpreter(moved).run({1, 2, 3, 4}), (std::vector<float>{8, 16, 24, 32}));
}

TEST_F(HostVersionsTest, BodiesGrowWithTheirSteps) {
  uint32_t a = device("a"), b = device("b"), position = builder.number("k", ElementType::I64);
  builder.copy(x, a);
  builder.control(StepKind::For, {position, builder.constant(0), builder.constant(3), builder.constant(1)}, {[&] {
                    builder.launch(functions.twice, {a, b});
                    builder.launch(functions.otherTwice, {b, a});
                  }});
  builder.copy(a, y);
  Plan moved = move({functions.twice});
  EXPECT_EQ(moved.steps[1].bodies, std::vector<uint32_t>{4});
  EXPECT_EQ(Interpreter(moved).run({1, 2, 3, 4}), (std::vector<float>{64, 128, 192, 256}));
}

TEST_F(HostVersionsTest, WhatACallLeavesUnwrittenStays) {
  // Two launches write two elements each of one buffer, which a third one reads on the device.
  uint32_t low = builder.constant("low", MemorySpace::Device, {1, 2}), all = device("all"), b = device("b");
  builder.copy(x, all);
  builder.launch(functions.twice, {low, all}, {0});
  builder.launch(functions.otherTwice, {all, b}, {1});
  builder.copy(b, y, {2});
  builder.plan->hostCode.functions[builder.plan->engines[functions.twice].hostVersion].symbol = "doubleTwoLanes";
  struct TwoLanes final : HostSymbolResolver {
    StatusOr<HostEntry> lookup(const std::string &) override {
      return HostEntry([](void *const *buffers) {
        for (int i = 0; i < 2; ++i)
          static_cast<float *>(buffers[1])[i] = 2 * static_cast<float *>(buffers[0])[i];
      });
    }
  };
  for (const Plan &plan : {*builder.plan, move({functions.twice})})
    for (const std::shared_ptr<Device> &device : devices(true)) {
      auto program = Program::load(std::make_shared<Plan>(plan), device, std::make_shared<TwoLanes>());
      ASSERT_TRUE(program.isOk()) << program.status().message();
      std::vector<float> in = {9, 9, 3, 4}, out(kLanes);
      ASSERT_EQ((*program)->call({view(in)}, {view(out)}).message(), "");
      EXPECT_EQ(out, (std::vector<float>{4, 8, 6, 8}));
    }
}

TEST_F(HostVersionsTest, WhatCannotBeMovedIsNamed) {
  uint32_t a = device("a"), b = device("b");
  builder.copy(x, a);
  builder.launch(functions.sum, {a, b, b});
  builder.copy(b, y);
  EXPECT_EQ(refusal({functions.sum}),
            "segment 'step1' can't run on the host: it writes 'b', which is passed to it twice");
  builder.plan->engines[functions.sum].hostVersion = -1;
  EXPECT_EQ(refusal({functions.sum}), "engine 'engine_add' has no host version");
}

TEST_F(HostVersionsTest, HostVersionsAreChecked) {
  uint32_t a = device("a"), b = device("b");
  builder.copy(x, a);
  builder.launch(functions.sum, {a, a, b});
  builder.copy(b, y);
  Engine &engine = builder.plan->engines[functions.sum];
  HostFunction &function = builder.plan->hostCode.functions[engine.hostVersion];
  auto refusal = [&] { return checkPlan(*builder.plan).message(); };
  EXPECT_EQ(refusal(), "");
  function.scratch = {};
  EXPECT_EQ(refusal(), "engine 'engine_add': expected its host version 'addLanes' to take 3 buffers and 0 scratch "
                       "buffers, but it takes 4");
  function.scratch = {Expr(16)};
  function.access[0] = Access::Write;
  EXPECT_EQ(refusal(), "engine 'engine_add': its host version 'addLanes' writes argument 0, which the engine doesn't");
  engine.hostVersion = 77;
  EXPECT_EQ(refusal(), "engine 'engine_add': its host version 77 is out of range of 7");
  engine.hostVersion = -2;
  EXPECT_EQ(refusal(), "engine 'engine_add': its host version -2 is out of range of 7");
}

TEST_F(HostVersionsTest, RandomProgramsComputeTheSameOnceMoved) {
  size_t calls = 0, copies = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    RandomPlan random(seed);
    const Plan &plan = *random.builder.plan;
    for (uint32_t choice = 1; choice < 8; ++choice) {
      std::vector<uint32_t> engines;
      for (uint32_t engine = 0; engine < 3; ++engine)
        if (choice >> engine & 1)
          engines.push_back(engine);
      StatusOr<Plan> moved = moveToHost(plan, engines);
      ASSERT_TRUE(moved.isOk()) << "seed " << seed << ": " << moved.status().message();
      for (const Step &step : moved->steps)
        ASSERT_TRUE(step.kind != StepKind::LaunchEngine ||
                    std::find(engines.begin(), engines.end(), step.callee) == engines.end());
      calls += moved->steps.size();
      copies += moved->steps.size() - plan.steps.size();
      auto shared = std::make_shared<Plan>(*moved);
      for (const std::shared_ptr<Device> &device : devices(choice != 7)) {
        auto program = Program::load(shared, device, std::make_shared<LaneLibrary>());
        ASSERT_TRUE(program.isOk()) << "seed " << seed << ": " << program.status().message();
        for (float start : {1.0f, 18.0f, 40.0f}) {
          std::vector<float> in = {start, start + 1, -2, 0.5}, out(kLanes);
          std::vector<float> expected = Interpreter(plan).run(in);
          ASSERT_EQ(Interpreter(*moved).run(in), expected) << "seed " << seed << " moving " << choice;
          ASSERT_EQ((*program)->call({view(in)}, {view(out)}).message(), "");
          ASSERT_EQ(out, expected) << "seed " << seed << " moving " << choice;
        }
      }
    }
  }
  EXPECT_GT(copies, 5000u) << "of " << calls;
}
