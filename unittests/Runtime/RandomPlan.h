// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random valid plans with control flow over tensors of a few elements, and an interpreter that gives each buffer
// separate memory and runs the list in order.

#ifndef INLAY_UNITTESTS_RUNTIME_RANDOMPLAN_H
#define INLAY_UNITTESTS_RUNTIME_RANDOMPLAN_H

#include "PlanBuilder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace inlay::rt::test {

constexpr int64_t kLanes = 4;

inline void addOne(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] + 1;
}
inline void halve(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] / 2;
}
/// Sets the result to true if the first element is below 20.
inline void isSmall(void *const *buffers) { *static_cast<bool *>(buffers[1]) = *static_cast<float *>(buffers[0]) < 20; }
/// Sets all elements to the position.
inline void spread(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float>(*static_cast<int64_t *>(buffers[0]));
}

inline void doubleLanes(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] = 2 * static_cast<float *>(buffers[0])[i];
}
/// Adds the first argument to the second in place.
inline void accumulateLanes(void *const *buffers) {
  for (int64_t i = 0; i < kLanes; ++i)
    static_cast<float *>(buffers[1])[i] += static_cast<float *>(buffers[0])[i];
}
/// Adds with scratch memory, as code of the compiler does.
inline void addLanes(void *const *buffers) {
  auto *sum = static_cast<float *>(buffers[3]);
  for (int64_t i = 0; i < kLanes; ++i)
    sum[i] = static_cast<float *>(buffers[0])[i] + static_cast<float *>(buffers[1])[i];
  std::memcpy(buffers[2], sum, kLanes * sizeof(float));
}

struct LaneLibrary final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &symbol) override {
    static const std::map<std::string, HostEntry> entries = {{"addOne", addOne},
                                                             {"halve", halve},
                                                             {"isSmall", isSmall},
                                                             {"spread", spread},
                                                             {"doubleLanes", doubleLanes},
                                                             {"addLanes", addLanes},
                                                             {"accumulateLanes", accumulateLanes}};
    auto found = entries.find(symbol);
    if (found == entries.end())
      return Status(StatusCode::NotFound, "no symbol '" + symbol + "'");
    return found->second;
  }
};

struct LaneFunctions {
  explicit LaneFunctions(PlanBuilder &builder) : builder(builder) {}
  uint32_t add(const char *name) { return builder.hostFunction(name, {Access::Read, Access::Write}); }

  PlanBuilder &builder;
  uint32_t addOne = add("addOne"), halve = add("halve"), isSmall = add("isSmall"), spread = add("spread");
  uint32_t twice = addEngine("double"), otherTwice = addEngine("double"), sum = addEngine("add");

private:
  /// Adds an engine with its host version.
  uint32_t addEngine(const char *kernel) {
    bool isSum = std::string(kernel) == "add";
    uint32_t number = builder.engine(kernel, isSum ? 3 : 2);
    uint32_t version =
        isSum ? builder.hostFunction("addLanes", {Access::Read, Access::Read, Access::Write, Access::Write})
              : builder.hostFunction("doubleLanes", {Access::Read, Access::Write});
    if (isSum)
      builder.plan->hostCode.functions[version].scratch = {Expr(kLanes * int64_t(sizeof(float)))};
    builder.plan->engines[number].hostVersion = static_cast<int32_t>(version);
    return number;
  }
};

/// Generates random valid plans: a step reads only buffers that were written before it on all paths.
class RandomPlan {
public:
  explicit RandomPlan(uint32_t seed) : random(seed) {
    x = builder.input("x", {Expr(kLanes)});
    y = builder.output("y", {Expr(kLanes)});
    weight = builder.constant("w", MemorySpace::Device, {0.5f, -1, 3, 2});
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
  uint32_t x, y, weight;

private:
  uint32_t pick(const std::vector<uint32_t> &list) { return list[random() % list.size()]; }
  MemorySpace spaceOf(uint32_t buffer) const { return builder.plan->buffers[buffer].space; }

  /// Returns a written buffer of this memory. Adds a copy if there is none.
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
  /// Returns a buffer of this memory that isn't `other`, old or new.
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
      return call(MemorySpace::Device, [&](auto from, auto to) {
        builder.launch(random() % 2 ? functions.twice : functions.otherTwice, {from, to});
      });
    case 1:
      return add();
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

  /// Adds an addition of two buffers, which may be the same, or of a buffer and a constant.
  void add() {
    uint32_t lhs = source(MemorySpace::Device), rhs = random() % 3 ? source(MemorySpace::Device) : weight;
    uint32_t to = target(MemorySpace::Device, lhs);
    if (to == rhs)
      to = builder.temporary("n", MemorySpace::Device, {Expr(kLanes)});
    builder.launch(functions.sum, {lhs, rhs, to});
    written.push_back(to);
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
    std::vector<uint32_t> before, firstBody;
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
                       firstBody.swap(written);
                       written = before;
                     },
                     side});
    std::vector<uint32_t> both;
    for (uint32_t buffer : written)
      if (std::find(firstBody.begin(), firstBody.end(), buffer) != firstBody.end())
        both.push_back(buffer);
    written = both;
  }

  /// Adds a loop that ends, because its condition's operand grows by one in each iteration.
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
  LaneFunctions functions{builder};
  std::vector<uint32_t> buffers, written;
};

/// Runs the steps of a plan in list order.
class Interpreter {
public:
  explicit Interpreter(const Plan &plan) : plan(plan), memory(plan.buffers.size(), std::vector<float>(kLanes, -7)) {
    for (size_t i = 0; i < plan.buffers.size(); ++i)
      if (plan.buffers[i].kind == BufferKind::Constant)
        std::memcpy(memory[i].data(), plan.constants[plan.buffers[i].index].data,
                    plan.constants[plan.buffers[i].index].size);
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
    std::vector<void *> pointers;
    for (uint32_t buffer : used)
      pointers.push_back(memory[buffer].data());
    if (step.kind == StepKind::Copy)
      memory[used[1]] = memory[used[0]];
    else if (step.kind == StepKind::LaunchEngine) // "add" has three arguments, "double" two
      std::transform(memory[used[0]].begin(), memory[used[0]].end(), memory[used[used.size() == 3 ? 1 : 0]].begin(),
                     memory[used.back()].begin(), std::plus<float>());
    else
      (*LaneLibrary().lookup(plan.hostCode.functions[step.callee].symbol))(pointers.data());
  }

  const Plan &plan;
  std::vector<std::vector<float>> memory;
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_RANDOMPLAN_H
