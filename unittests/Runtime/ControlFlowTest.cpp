// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps with bodies, and that what is decided at load (elided copies, grouped launches, shared memory) changes nothing:
// random programs against an interpreter that gives each buffer memory of its own and runs the list as it stands.

#include "FakeDevice.h"
#include "PlanBuilder.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

constexpr int64_t kLanes = 4;

void addOne(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] + 1;
}
void halve(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] / 2;
}
/// Whether the first lane is below 20.
void isSmall(void *const *buffers) { *static_cast<bool *>(buffers[1]) = *static_cast<float *>(buffers[0]) < 20; }
/// Lanes of the position.
void spread(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float>(*static_cast<int64_t *>(buffers[0]));
}

struct Library final : HostLibrary {
  StatusOr<HostEntry> lookup(const std::string &symbol) override {
    static const std::map<std::string, HostEntry> entries = {
        {"addOne", addOne}, {"halve", halve}, {"isSmall", isSmall}, {"spread", spread}};
    return entries.at(symbol);
  }
};

struct Functions {
  explicit Functions(PlanBuilder &builder) : builder(builder) {}
  uint32_t add(const char *name) { return builder.hostFunction(name, {Access::Read, Access::Write}); }

  PlanBuilder &builder;
  uint32_t addOne = add("addOne"), halve = add("halve"), isSmall = add("isSmall"), spread = add("spread");
  uint32_t twice = builder.engine("double", 2);
};

struct ControlFlowTest : testing::TestWithParam<bool> {
  uint32_t host(const std::string &name) { return builder.temporary(name, MemorySpace::Host, {Expr(kLanes)}); }
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(kLanes)}); }

  StatusOr<std::unique_ptr<Program>> load() {
    return Program::load(builder.plan, std::make_shared<FakeDevice>(GetParam()), std::make_shared<Library>());
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
  Functions functions{builder};
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
            "loop 'step0': ran 100 times without ending, which is the most it may (max_loop_iterations)");
  in[0] = 30;
  EXPECT_TRUE((*program)->call({view(in)}, {view(out)}).isOk()) << "a later call is none the worse";
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
  auto program = Program::load(builder.plan, fake, std::make_shared<Library>());
  std::vector<float> in = {1, 2, 3, 4}, out(kLanes);
  ASSERT_TRUE((*program)->call({view(in)}, {view(out)}).isOk());
  EXPECT_EQ(out, (std::vector<float>{4096, 8192, 12288, 16384}));
  EXPECT_EQ(fake->allocatedBytes, 48u) << "what is carried, and two of the six that are alive at a time";
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

namespace {

/// Writes random sound plans: what a step reads was written before it, whichever way was taken.
class RandomPlan {
public:
  explicit RandomPlan(uint32_t seed) : random(seed) {
    x = builder.input("x", {Expr(kLanes)});
    y = builder.output("y", {Expr(kLanes)});
    for (int i = 0; i < 4; ++i)
      for (MemorySpace space : {MemorySpace::Host, MemorySpace::Device})
        buffers.push_back(builder.temporary("t" + std::to_string(buffers.size()), space, {Expr(kLanes)}));
    written = {x};
    uint32_t first = pick(buffers);
    builder.copy(x, first);
    written.push_back(first);
    body(6, 0);
    builder.copy(pick(written), y);
  }

  PlanBuilder builder;
  uint32_t x, y;

private:
  uint32_t pick(const std::vector<uint32_t> &list) { return list[random() % list.size()]; }
  MemorySpace spaceOf(uint32_t buffer) const { return builder.plan->buffers[buffer].space; }

  /// A written buffer of this memory, copied there where none is.
  uint32_t source(MemorySpace space) {
    std::vector<uint32_t> fit;
    for (uint32_t buffer : written)
      if (spaceOf(buffer) == space)
        fit.push_back(buffer);
    if (!fit.empty() && random() % 4)
      return pick(fit);
    uint32_t target = builder.temporary("c", space, {Expr(kLanes)});
    builder.copy(pick(written), target);
    written.push_back(target);
    return target;
  }
  /// A buffer of this memory that isn't `other`, old or new.
  uint32_t target(MemorySpace space, uint32_t other) {
    for (int i = 0; i < 8; ++i)
      if (uint32_t buffer = pick(buffers); buffer != other && spaceOf(buffer) == space)
        return buffer;
    return builder.temporary("n", space, {Expr(kLanes)});
  }

  void body(int length, int depth) {
    for (int i = 0; i < length; ++i)
      addStep(depth);
  }

  void addStep(int depth) {
    switch (random() % (depth < 3 ? 9 : 6)) {
    case 0:
    case 1:
      return call(MemorySpace::Device, [&](auto from, auto to) { builder.launch(functions.twice, {from, to}); });
    case 2:
      return call(MemorySpace::Host, [&](auto from, auto to) { builder.call(functions.addOne, {from, to}); });
    case 3:
      return call(MemorySpace::Host, [&](auto from, auto to) { builder.call(functions.halve, {from, to}); });
    case 4:
    case 5: {
      uint32_t from = pick(written), to = target(random() % 2 ? MemorySpace::Host : MemorySpace::Device, from);
      builder.copy(from, to);
      return written.push_back(to);
    }
    case 6:
      return branch(depth);
    case 7:
      return loop(depth);
    default:
      return count(depth);
    }
  }

  template <typename Add>
  void call(MemorySpace space, Add add) {
    uint32_t from = source(space), to = target(space, from);
    add(from, to);
    written.push_back(to);
  }

  uint32_t condition() {
    uint32_t small = builder.number("small", ElementType::Bool);
    builder.call(functions.isSmall, {source(MemorySpace::Host), small});
    return small;
  }

  void branch(int depth) {
    std::vector<uint32_t> before, one;
    uint32_t result = builder.temporary("r", random() % 2 ? MemorySpace::Host : MemorySpace::Device, {Expr(kLanes)});
    auto side = [&] {
      body(random() % 3, depth + 1);
      builder.copy(pick(written), result);
      written.push_back(result);
    };
    builder.control(StepKind::Branch, {condition()},
                    {[&] {
                       before = written;
                       side();
                       one.swap(written);
                       written = before;
                     },
                     side});
    std::vector<uint32_t> both;
    for (uint32_t buffer : written)
      if (std::find(one.begin(), one.end(), buffer) != one.end())
        both.push_back(buffer);
    written = both;
  }

  /// Ends: what it goes by grows by one in each run.
  void loop(int depth) {
    uint32_t guard = builder.temporary("guard", MemorySpace::Host, {Expr(kLanes)}),
             next = builder.temporary("next", MemorySpace::Host, {Expr(kLanes)});
    uint32_t small = builder.number("small", ElementType::Bool);
    std::vector<uint32_t> after;
    builder.call(functions.spread, {builder.constant(int64_t(16 + random() % 5)), guard});
    builder.control(StepKind::While, {small},
                    {[&] {
                       body(random() % 2, depth + 1);
                       builder.call(functions.isSmall, {guard, small});
                       after = written;
                     },
                     [&] {
                       body(1 + random() % 3, depth + 1);
                       builder.call(functions.addOne, {guard, next});
                       builder.copy(next, guard);
                     }});
    written = after;
  }

  void count(int depth) {
    uint32_t position = builder.number("k", ElementType::I64);
    uint32_t carried = builder.temporary("a", random() % 2 ? MemorySpace::Host : MemorySpace::Device, {Expr(kLanes)});
    builder.copy(pick(written), carried);
    written.push_back(carried);
    std::vector<uint32_t> before = written;
    builder.control(StepKind::For,
                    {position, builder.constant(0), builder.constant(int64_t(random() % 4)), builder.constant(1)},
                    {[&] {
                      if (random() % 2) {
                        uint32_t to = target(MemorySpace::Host, x);
                        builder.call(functions.spread, {position, to});
                        written.push_back(to);
                      }
                      body(1 + random() % 3, depth + 1);
                      if (uint32_t last = pick(written); last != carried)
                        builder.copy(last, carried);
                    }});
    written = before;
  }

  std::mt19937 random;
  Functions functions{builder};
  std::vector<uint32_t> buffers, written;
};

/// Runs a plan as its list says.
class Interpreter {
public:
  explicit Interpreter(const Plan &plan) : plan(plan), memory(plan.buffers.size(), std::vector<float>(kLanes, -7)) {
    for (size_t i = 0; i < plan.buffers.size(); ++i)
      if (plan.buffers[i].kind == BufferKind::Constant)
        std::memcpy(memory[i].data(), plan.constants[plan.buffers[i].index].data, sizeof(int64_t));
  }

  std::vector<float> run(const std::vector<float> &x) {
    memory[plan.inputs[0]] = x;
    runSteps(0, plan.steps.size());
    return memory[plan.outputs[0]];
  }

private:
  int64_t number(uint32_t buffer) const {
    int64_t value;
    std::memcpy(&value, memory[buffer].data(), sizeof(value));
    return value;
  }
  bool holds(uint32_t buffer) const { return *reinterpret_cast<const char *>(memory[buffer].data()) != 0; }

  void runSteps(size_t first, size_t end) {
    for (size_t i = first; i < end; i += countSteps(plan.steps[i]))
      runStep(i);
  }

  void runStep(size_t i) {
    const Step &step = plan.steps[i];
    const std::vector<uint32_t> &used = step.buffers;
    size_t first = i + 1, second = step.bodies.empty() ? first : first + step.bodies[0], end = i + countSteps(step);
    if (step.kind == StepKind::Branch)
      return holds(used[0]) ? runSteps(first, second) : runSteps(second, end);
    if (step.kind == StepKind::While) {
      for (runSteps(first, second); holds(used[0]); runSteps(first, second))
        runSteps(second, end);
      return;
    }
    if (step.kind == StepKind::For) {
      for (int64_t position = number(used[1]); position < number(used[2]); position += number(used[3])) {
        std::memcpy(memory[used[0]].data(), &position, sizeof(position));
        runSteps(first, end);
      }
      return;
    }
    void *pointers[] = {memory[used[0]].data(), memory[used[1]].data()};
    if (step.kind == StepKind::Copy)
      memory[used[1]] = memory[used[0]];
    else if (step.kind == StepKind::LaunchEngine)
      std::transform(memory[used[0]].begin(), memory[used[0]].end(), memory[used[1]].begin(),
                     [](float value) { return value + value; });
    else
      (*Library().lookup(plan.hostCode.functions[step.callee].symbol))(pointers);
  }

  const Plan &plan;
  std::vector<std::vector<float>> memory;
};

} // namespace

TEST_P(ControlFlowTest, RandomProgramsAreRunAsTheyAreWritten) {
  int bodies = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomPlan random(seed);
    auto program =
        Program::load(random.builder.plan, std::make_shared<FakeDevice>(GetParam()), std::make_shared<Library>());
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
