// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds small plans of float tensors for tests.

#ifndef INLAY_UNITTESTS_RUNTIME_PLANBUILDER_H
#define INLAY_UNITTESTS_RUNTIME_PLANBUILDER_H

#include "inlay/Runtime/Core/Program.h"

#include <functional>

namespace inlay::rt::test {

class PlanBuilder {
public:
  uint32_t input(const std::string &name, std::vector<Expr> dims) {
    uint32_t number = add(BufferKind::Input, MemorySpace::Host, plan->inputs.size(), name, std::move(dims));
    plan->inputs.push_back(number);
    return number;
  }
  uint32_t output(const std::string &name, std::vector<Expr> dims) {
    uint32_t number = add(BufferKind::Output, MemorySpace::Host, plan->outputs.size(), name, std::move(dims));
    plan->outputs.push_back(number);
    return number;
  }
  uint32_t state(const std::string &name, MemorySpace space, std::vector<Expr> dims) {
    uint32_t number = add(BufferKind::State, space, plan->states.size(), name, std::move(dims));
    plan->states.push_back(number);
    return number;
  }
  uint32_t temporary(const std::string &name, MemorySpace space, std::vector<Expr> dims) {
    return add(BufferKind::Temporary, space, 0, name, std::move(dims));
  }
  /// Adds a single number in host memory.
  uint32_t number(const std::string &name, ElementType type) {
    uint32_t number = add(BufferKind::Temporary, MemorySpace::Host, 0, name, {});
    plan->buffers[number].type.element = type;
    return number;
  }
  uint32_t constant(int64_t value) {
    auto owner = std::make_shared<int64_t>(value);
    plan->constants.push_back({owner.get(), sizeof(value), owner});
    uint32_t number = add(BufferKind::Constant, MemorySpace::Host, plan->constants.size() - 1, "number", {});
    plan->buffers[number].type.element = ElementType::I64;
    return number;
  }
  uint32_t constant(const std::string &name, MemorySpace space, const std::vector<float> &values) {
    auto owner = std::make_shared<std::vector<float>>(values);
    plan->constants.push_back({owner->data(), values.size() * sizeof(float), owner});
    return add(BufferKind::Constant, space, plan->constants.size() - 1, name, {Expr(int64_t(values.size()))});
  }

  /// Adds an engine of one kernel that reads all arguments but the last and writes the last.
  uint32_t engine(const std::string &kernel, uint32_t arguments) {
    Engine &engine = plan->engines.emplace_back();
    engine.name = "engine_" + kernel;
    engine.arguments = arguments;
    Kernel &table = engine.kernels.emplace_back();
    table.name = kernel;
    table.spirv = {0};
    table.bindings.assign(arguments, Access::Read);
    table.bindings.back() = Access::Write;
    Dispatch &dispatch = engine.dispatches.emplace_back();
    for (uint32_t i = 0; i < arguments; ++i)
      dispatch.buffers.push_back(i);
    dispatch.grid = {Expr(1), Expr(1), Expr(1)};
    return static_cast<uint32_t>(plan->engines.size() - 1);
  }
  uint32_t hostFunction(const std::string &symbol, std::vector<Access> access) {
    plan->hostCode.functions.push_back({symbol, static_cast<uint32_t>(access.size()), access});
    return static_cast<uint32_t>(plan->hostCode.functions.size() - 1);
  }

  uint32_t step(StepKind kind, uint32_t callee, std::vector<uint32_t> buffers, std::vector<uint32_t> after = {}) {
    auto number = static_cast<uint32_t>(plan->steps.size());
    plan->steps.push_back({kind, callee, std::move(buffers), std::move(after), "step" + std::to_string(number)});
    return number;
  }
  uint32_t copy(uint32_t from, uint32_t to, std::vector<uint32_t> after = {}) {
    return step(StepKind::Copy, 0, {from, to}, std::move(after));
  }
  uint32_t launch(uint32_t engine, std::vector<uint32_t> buffers, std::vector<uint32_t> after = {}) {
    return step(StepKind::LaunchEngine, engine, std::move(buffers), std::move(after));
  }
  uint32_t call(uint32_t function, std::vector<uint32_t> buffers, std::vector<uint32_t> after = {}) {
    return step(StepKind::CallHost, function, std::move(buffers), std::move(after));
  }

  /// Adds a step with bodies. Each function adds the steps of one body.
  uint32_t control(StepKind kind, std::vector<uint32_t> buffers, const std::vector<std::function<void()>> &bodies) {
    uint32_t number = step(kind, 0, std::move(buffers));
    plan->steps[number].limit = 100;
    for (const std::function<void()> &body : bodies) {
      size_t first = plan->steps.size();
      body();
      plan->steps[number].bodies.push_back(static_cast<uint32_t>(plan->steps.size() - first));
    }
    return number;
  }

  std::shared_ptr<Plan> plan = std::make_shared<Plan>();

private:
  uint32_t add(BufferKind kind, MemorySpace space, size_t index, const std::string &name, std::vector<Expr> dims) {
    plan->buffers.push_back({kind, space, static_cast<uint32_t>(index), {ElementType::F32, std::move(dims)}, name});
    return static_cast<uint32_t>(plan->buffers.size() - 1);
  }
};

inline TensorView view(std::vector<float> &values) {
  return {values.data(), ElementType::F32, {static_cast<int64_t>(values.size())}};
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_PLANBUILDER_H
