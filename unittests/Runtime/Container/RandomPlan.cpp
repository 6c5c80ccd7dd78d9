// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomPlan.h"
#include "../PlanBuilder.h"
#include "Layout.h"

#include <random>

namespace inlay::rt::test {

namespace {

class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed), callsFramework_(seed % 2 == 1) {}

  std::shared_ptr<Plan> run() {
    Plan &plan = *builder_.plan;
    plan.name = text();
    x_ = builder_.input("x", {n_, Expr(3)});
    uint32_t y = builder_.output(text(), {n_, Expr(3)});
    plan.symbols.push_back({"n", int64_t(below(3)), 3 + int64_t(below(1000)), 0, 0, 1 + int64_t(below(3)), -1});
    for (int i = 0; i < 3; ++i) {
      host_.push_back(buffer(MemorySpace::Host));
      device_.push_back(buffer(MemorySpace::Device));
    }
    constants();
    for (uint32_t i = below(3) + 1; i > 0; --i)
      engine();
    hostCode();
    plan.foreignEngines.push_back({text(), text(), blob(below(40)), 2, 1});
    plan.callbacks.push_back({text(), 1, {expr(), expr()}});
    builder_.copy(x_, host_[0]);
    body(0);
    builder_.copy(host_[below(3)], y);
    for (Step &step : plan.steps) {
      step.segment = int32_t(below(5)) - 1;
      step.calls = texts();
      step.limit = below(2) ? below(100) : UINT64_MAX;
    }
    return builder_.plan;
  }

private:
  uint32_t below(uint32_t bound) { return random_() % bound; }
  std::string text() {
    static const char *const words[] = {"", "relu", "layers.0.conv", "x\"y", "größe", "a\nb", "aten::add"};
    return words[below(7)] + std::to_string(below(100));
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list(below(3));
    for (std::string &element : list)
      element = text();
    return list;
  }
  std::string blob(uint32_t size) {
    std::string bytes(size, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random_());
    return bytes;
  }
  /// Returns an expression that is positive for all n.
  Expr expr(int depth = 0) {
    if (depth > 3 || below(3) == 0)
      return below(2) ? Expr(1 + int64_t(below(1000))) : Expr::binary(Expr::Op::Max, n_, Expr(1));
    static const Expr::Op ops[] = {Expr::Op::Add, Expr::Op::Mul, Expr::Op::CeilDiv, Expr::Op::Min, Expr::Op::Max};
    return Expr::binary(ops[below(5)], expr(depth + 1), expr(depth + 1));
  }
  uint32_t buffer(MemorySpace space) {
    return below(3) == 0 ? builder_.state(text(), space, {n_, Expr(3)})
                         : builder_.temporary(text(), space, {n_, Expr(3)});
  }
  std::vector<Expr> exprs() {
    std::vector<Expr> list;
    for (uint32_t i = below(3); i > 0; --i)
      list.push_back(expr());
    return list;
  }
  template <typename Enum>
  Enum any(Enum last) {
    return static_cast<Enum>(below(static_cast<uint32_t>(last) + 1));
  }

  void constants() {
    Plan &plan = *builder_.plan;
    for (uint32_t i = below(6); i > 0; --i) {
      auto element = any(ElementType::F64);
      uint32_t count = below(8) == 0 ? 0 : below(5) == 0 ? 3000 : 1 + below(20);
      auto bytes = std::make_shared<std::string>(blob(count * static_cast<uint32_t>(byteWidth(element))));
      std::string key = below(3) == 0 ? "" : "weight." + std::to_string(plan.constants.size());
      plan.constants.push_back({bytes->data(), bytes->size(), bytes, key});
      std::vector<Expr> dims = {Expr(int64_t(count))};
      if (below(3) == 0) {
        plan.constants.back().dims = {1, count};
        plan.constants.back().order = {1, 0};
        dims.insert(dims.begin(), Expr(1));
      }
      auto number = static_cast<uint32_t>(plan.constants.size() - 1);
      for (uint32_t uses = 1 + below(2); uses > 0; --uses)
        plan.buffers.push_back({BufferKind::Constant, any(MemorySpace::Device), number, {element, dims}, text()});
      if (below(3) == 0) { // another constant with the same bytes
        auto copy = std::make_shared<std::string>(*bytes);
        plan.constants.push_back({copy->data(), copy->size(), copy, key + "'"});
      }
    }
  }

  void engine() {
    Engine &engine = builder_.plan->engines.emplace_back();
    engine = {text(), 2, {expr()}, {}, {}, -1};
    for (uint32_t i = 1 + below(2); i > 0; --i) {
      Kernel &kernel = engine.kernels.emplace_back();
      std::vector<uint32_t> spirv(1 + below(6), 0x07230203);
      spirv.back() = below(3);
      kernel = {text(), spirv, {Access::Read, any(Access::ReadWrite)}, below(3), {1 + below(64), 1, 2}, {}};
      if (below(2))
        kernel.kinds = {any(BindingKind::VectorTexels), BindingKind::Storage};
      kernel.requirements = below(2) ? std::vector<std::string>{"int64", "float16"} : texts();
    }
    for (uint32_t i = 1 + below(3); i > 0; --i) {
      uint32_t kernel = below(static_cast<uint32_t>(engine.kernels.size()));
      std::vector<Expr> constants;
      for (uint32_t word = 0; word < engine.kernels[kernel].pushConstants; ++word)
        constants.push_back(expr());
      engine.dispatches.push_back({kernel, {0, 1 + below(2)}, {expr(), expr(), expr()}, constants, texts()});
    }
  }

  HostKernel hostKernel() {
    HostKernel kernel;
    kernel.name = text();
    kernel.kind = any(HostKernelKind::IntegerProduct);
    kernel.buffers = below(5);
    kernel.loops = below(5);
    kernel.constants = {below(3), below(3)};
    kernel.postOps.push_back({any(PostOpKind::MulChannels), -1.5F, float(below(10))});
    bool *flags[] = {&kernel.hasBias, &kernel.accumulates, &kernel.channelsLast, &kernel.isCausal};
    for (bool *flag : flags)
      *flag = below(2);
    kernel.mask = any(MaskKind::Selected);
    kernel.scale = 1.0 / (1 + below(7));
    kernel.calls = texts();
    return kernel;
  }

  void hostCode() {
    HostCode &code = builder_.plan->hostCode;
    if (below(3) > 0)
      code.triple = thisArch() + "-unknown-linux-gnu";
    for (uint32_t i = code.triple.empty() ? 0 : 1 + below(2); i > 0; --i) {
      std::string bytes = blob(1 + below(100));
      code.objects.push_back({text(), texts(), {bytes.begin(), bytes.end()}});
    }
    for (uint32_t i = 1 + below(2); i > 0; --i) {
      HostFunction function{text(), 2, {Access::Read, any(Access::ReadWrite)}, exprs(), {}, {}, exprs()};
      if (below(3) == 0)
        function.access.clear();
      for (uint32_t kernels = below(3); kernels > 0; --kernels)
        function.kernels.push_back(hostKernel());
      code.functions.push_back(std::move(function));
    }
    callable_ = static_cast<uint32_t>(code.functions.size());
    for (Engine &engine : builder_.plan->engines)
      if (below(2))
        hostVersion(engine);
  }

  void hostVersion(Engine &engine) {
    std::vector<HostFunction> &functions = builder_.plan->hostCode.functions;
    engine.hostVersion = static_cast<int32_t>(functions.size());
    HostFunction function{text(), 2, {Access::Read, Access::Read}, exprs(), {}, exprs(), exprs()};
    function.arguments += static_cast<uint32_t>(function.scratch.size());
    function.access.resize(function.arguments, Access::Write);
    functions.push_back(std::move(function));
  }

  void body(int depth) {
    for (uint32_t i = 1 + below(4); i > 0; --i)
      step(depth);
  }

  void step(int depth) {
    Plan &plan = *builder_.plan;
    uint32_t from = below(3), to = (from + 1) % 3;
    switch (below(depth < 2 ? 7 : 5)) {
    case 0:
      builder_.copy(host_[from], device_[to]);
      return;
    case 1:
      builder_.launch(below(static_cast<uint32_t>(plan.engines.size())), {device_[from], device_[to]}, after());
      return;
    case 2:
      builder_.call(below(callable_), {host_[from], host_[to]}, after());
      return;
    case 3:
      if (!isState(host_[to]))
        builder_.step(StepKind::RunForeign, 0, {host_[from], host_[to]});
      return;
    case 4:
      if (callsFramework_ && !isState(host_[to]))
        builder_.step(StepKind::Callback, 0, {host_[from], host_[to]});
      return;
    case 5:
      builder_.control(StepKind::Branch, {builder_.number("c", ElementType::Bool)},
                       {[&] { body(depth + 1); }, [&] { body(depth + 1); }});
      return;
    default:
      builder_.control(StepKind::For,
                       {builder_.number("k", ElementType::I64), builder_.constant(0), builder_.constant(below(4)),
                        builder_.constant(1)},
                       {[&] { body(depth + 1); }});
    }
  }
  bool isState(uint32_t buffer) const { return builder_.plan->buffers[buffer].kind == BufferKind::State; }
  std::vector<uint32_t> after() {
    auto steps = static_cast<uint32_t>(builder_.plan->steps.size());
    return steps > 0 && below(2) ? std::vector<uint32_t>{below(steps)} : std::vector<uint32_t>();
  }

  std::mt19937 random_;
  uint32_t callable_ = 0; ///< Number of host functions that steps call; the others are host versions.
  bool callsFramework_;
  PlanBuilder builder_;
  Expr n_ = Expr::dim(0, 0);
  uint32_t x_ = 0;
  std::vector<uint32_t> host_, device_;
};

} // namespace

std::shared_ptr<Plan> randomPlan(uint32_t seed) { return Generator(seed).run(); }

std::shared_ptr<Plan> smallPlan() {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  return builder.plan;
}

std::shared_ptr<Plan> statePlan() {
  PlanBuilder builder;
  std::vector<Expr> dims = {Expr::dim(0, 0), Expr(2)};
  uint32_t x = builder.input("x", dims), y = builder.output("y", dims);
  uint32_t last = builder.state("last", MemorySpace::Host, dims);
  builder.copy(last, y);
  builder.copy(x, last);
  builder.plan->symbols.push_back({"n", 0, 1000, 0, 0});
  return builder.plan;
}

} // namespace inlay::rt::test
