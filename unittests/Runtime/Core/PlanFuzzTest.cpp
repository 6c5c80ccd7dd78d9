// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that plans with random damage are refused or run within their memory. They find most under a sanitizer.

#include "../FakeDevice.h"
#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

class Damage {
public:
  explicit Damage(uint32_t seed) : random_(seed) {}

  /// Makes one random change.
  void apply(Plan &plan) {
    switch (random_() % 14) {
    case 0:
      return number(pick(plan.inputs));
    case 1:
      return number(pick(plan.outputs));
    case 2:
      return number(pick(pick(plan.steps).buffers));
    case 3:
      return number(pick(plan.steps).callee);
    case 4:
      return pick(plan.steps).after.push_back(small());
    case 5:
      return expr(pick(pick(plan.buffers).type.dims));
    case 6:
      return buffer(pick(plan.buffers));
    case 7:
      return engine(pick(plan.engines));
    case 8:
      return symbol(pick(plan.symbols));
    case 9:
      return expr(pick(pick(plan.callbacks).sizes));
    case 10:
      return number(pick(pick(plan.steps).bodies));
    case 11:
      pick(plan.steps).limit = random_() % 10;
      return;
    default:
      pick(plan.steps).kind = static_cast<StepKind>(random_() % 10);
    }
  }

private:
  template <typename T>
  T &pick(std::vector<T> &list) {
    if (list.empty())
      list.emplace_back();
    return list[random_() % list.size()];
  }
  uint32_t small() { return random_() % 3 ? random_() % 10 : uint32_t(random_()); }
  void number(uint32_t &value) { value = small(); }
  void expr(Expr &value) {
    std::vector<Expr::Instruction> code = value.code();
    Expr::Instruction instruction{static_cast<Expr::Op>(random_() % 10), int64_t(small()) - 2, int64_t(small()) - 2};
    if (random_() % 2)
      code.push_back(instruction);
    else
      code[random_() % code.size()] = instruction;
    value = Expr(std::move(code));
  }
  void buffer(Buffer &value) {
    switch (random_() % 4) {
    case 0:
      value.kind = static_cast<BufferKind>(random_() % 5);
      break;
    case 1:
      value.space = static_cast<MemorySpace>(random_() % 3);
      break;
    case 2:
      value.type.element = static_cast<ElementType>(random_() % 10);
      break;
    default:
      value.index = small();
    }
  }
  void symbol(Symbol &value) {
    int64_t *numbers[] = {&value.min, &value.max, &value.scale, &value.offset};
    if (random_() % 2)
      return number(random_() % 2 ? value.input : value.dim);
    *numbers[random_() % 4] = int64_t(small()) - 2;
  }
  void engine(Engine &value) {
    switch (random_() % 4) {
    case 0:
      return number(value.arguments);
    case 1:
      return number(pick(pick(value.dispatches).buffers));
    case 2:
      return expr(pick(value.dispatches).grid[random_() % 3]);
    default:
      return number(pick(value.dispatches).kernel);
    }
  }

  std::mt19937 random_;
};

/// Returns the plan of y = f(double(x) + w), computed three times, with dynamic sizes.
std::shared_ptr<Plan> soundPlan() {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t w = builder.constant("w", MemorySpace::Device, {1, 2, 3, 4});
  uint32_t a = builder.temporary("a", MemorySpace::Device, {n}), b = builder.temporary("b", MemorySpace::Device, {n});
  uint32_t c = builder.temporary("c", MemorySpace::Device, {n}), h = builder.temporary("h", MemorySpace::Host, {n});
  builder.engine("double", 2);
  builder.engine("add", 3);
  builder.plan->callbacks.push_back({"f", 1, {n}});
  builder.plan->symbols.push_back({"n", 1, 16, 0, 0});
  builder.copy(x, a);
  uint32_t k = builder.number("k", ElementType::I64);
  builder.control(StepKind::For, {k, builder.constant(0), builder.constant(3), builder.constant(1)}, {[&] {
                    builder.launch(0, {a, b});
                    builder.launch(1, {b, w, c}, {2});
                    builder.copy(c, h, {3});
                    builder.step(StepKind::Callback, 0, {h, y}, {4});
                  }});
  return builder.plan;
}

/// Accesses every byte of its tensors.
Status touch(uint32_t, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
             const std::vector<int64_t> &) {
  for (const TensorView &view : inputs) {
    auto *bytes = static_cast<const char *>(view.data);
    std::vector<char> copy(bytes, bytes + *byteSize(view.element, view.dims));
  }
  for (const TensorView &view : outputs)
    std::fill_n(static_cast<char *>(view.data), *byteSize(view.element, view.dims), 1);
  return Status::ok();
}

} // namespace

TEST(PlanFuzz, DamagedPlansAreRefusedOrRunWithinTheirMemory) {
  constexpr size_t limit = 1 << 20;
  int refused = 0, ran = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    std::shared_ptr<Plan> plan = soundPlan();
    Damage damage(seed);
    for (uint32_t i = 0; i <= seed % 3; ++i)
      damage.apply(*plan);
    auto device = std::make_shared<FakeDevice>(seed % 2 == 0);
    auto program = Program::load(plan, device, nullptr, touch);
    if (!program.isOk()) {
      EXPECT_NE(program.status().message(), "");
      ++refused;
      continue;
    }
    // Uninitialized memory may determine how often a loop runs, so loops are stopped after a while.
    (*program)->stopWhen([asked = 0]() mutable { return asked++ > 0; });
    std::vector<TensorView> inputs, outputs;
    std::vector<std::vector<char>> memory;
    InputDims dims;
    for (uint32_t input : plan->inputs)
      dims.push_back(std::vector<int64_t>(plan->buffers[input].type.dims.size(), 4));
    auto results = (*program)->outputDims(dims);
    if (!results.isOk())
      continue;
    auto add = [&](std::vector<TensorView> &list, ElementType element, const std::vector<int64_t> &shape) {
      size_t bytes = *byteSize(element, shape);
      memory.emplace_back(std::min(bytes, limit));
      list.push_back({bytes <= limit ? memory.back().data() : nullptr, element, shape});
    };
    for (size_t i = 0; i < dims.size(); ++i)
      add(inputs, plan->buffers[plan->inputs[i]].type.element, dims[i]);
    for (size_t i = 0; i < results->size(); ++i)
      add(outputs, plan->buffers[plan->outputs[i]].type.element, (*results)[i]);
    ran += (*program)->call(inputs, outputs).isOk();
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(ran, 300);
}
