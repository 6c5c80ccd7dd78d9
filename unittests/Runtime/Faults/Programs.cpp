// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Programs.h"
#include "Kernels.h"

#include <algorithm>
#include <map>

namespace inlay::rt::test {

namespace {

using Lanes = std::vector<float>;

int64_t lanes(void *const *buffers, size_t arguments) { return *static_cast<int64_t *>(buffers[arguments]); }
float *floats(void *const *buffers, size_t argument) { return static_cast<float *>(buffers[argument]); }

void addHost(void *const *buffers) {
  for (int64_t i = 0; i < lanes(buffers, 3); ++i)
    floats(buffers, 2)[i] = floats(buffers, 0)[i] + floats(buffers, 1)[i];
}
void mulHost(void *const *buffers) {
  for (int64_t i = 0; i < lanes(buffers, 3); ++i)
    floats(buffers, 2)[i] = floats(buffers, 0)[i] * floats(buffers, 1)[i];
}
/// Computes (a + b) * b with scratch memory.
void chainHost(void *const *buffers) {
  for (int64_t i = 0; i < lanes(buffers, 4); ++i)
    floats(buffers, 3)[i] = floats(buffers, 0)[i] + floats(buffers, 1)[i];
  for (int64_t i = 0; i < lanes(buffers, 4); ++i)
    floats(buffers, 2)[i] = floats(buffers, 3)[i] * floats(buffers, 1)[i];
}
void negateHost(void *const *buffers) {
  for (int64_t i = 0; i < lanes(buffers, 2); ++i)
    floats(buffers, 1)[i] = -floats(buffers, 0)[i];
}
/// Sets the result to true if the first element is below 100.
void isSmallHost(void *const *buffers) { *static_cast<bool *>(buffers[1]) = floats(buffers, 0)[0] < 100; }

struct Library final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &symbol) override {
    static const std::map<std::string, HostEntry> entries = {
        {"add", addHost}, {"mul", mulHost}, {"chain", chainHost}, {"negate", negateHost}, {"isSmall", isSmallHost}};
    auto found = entries.find(symbol);
    if (found == entries.end())
      return Status(StatusCode::NotFound, "no symbol '" + symbol + "'");
    return found->second;
  }
};

/// Builds programs and their host versions.
struct Maker {
  Maker() {
    negate = function("negate", {Access::Read, Access::Write});
    isSmall = function("isSmall", {Access::Read, Access::Write});
    add = engine(elementwiseEngine(binaryKernel("add", "OpFAdd"), n), "add");
    mul = engine(elementwiseEngine(binaryKernel("mul", "OpFMul"), n), "mul");
    x = builder.input("x", {n});
    y = builder.output("y", {n});
    Constant weights = makeWeights(1);
    w = builder.constant("w", MemorySpace::Device, std::vector<float>(kMaxLanes));
    builder.plan->constants[0] = weights;
  }
  uint32_t function(const char *symbol, std::vector<Access> access) {
    uint32_t number = builder.hostFunction(symbol, std::move(access));
    builder.plan->hostCode.functions[number].sizes = {n};
    return number;
  }
  uint32_t engine(Engine engine, const char *symbol) {
    uint32_t number = function(symbol, {Access::Read, Access::Read, Access::Write});
    engine.hostVersion = static_cast<int32_t>(number);
    builder.plan->engines.push_back(std::move(engine));
    return static_cast<uint32_t>(builder.plan->engines.size() - 1);
  }
  /// Adds an engine of two kernels with scratch.
  uint32_t chain() {
    Engine chain = elementwiseEngine(binaryKernel("add", "OpFAdd"), n);
    chain.name = "engine_chain";
    chain.kernels.push_back(binaryKernel("mul", "OpFMul"));
    Expr bytes = Expr::binary(Expr::Op::Mul, n, Expr(4));
    chain.scratch = {bytes};
    chain.dispatches.push_back(chain.dispatches[0]);
    chain.dispatches[0].buffers = {0, 1, 3};
    chain.dispatches[1].kernel = 1;
    chain.dispatches[1].buffers = {3, 1, 2};
    uint32_t number = engine(std::move(chain), "chain");
    HostFunction &version = builder.plan->hostCode.functions[builder.plan->engines[number].hostVersion];
    version.access.push_back(Access::Write);
    version.arguments = 4;
    version.scratch = {bytes};
    return number;
  }
  uint32_t device(const char *name) { return builder.temporary(name, MemorySpace::Device, {n}); }
  uint32_t host(const char *name) { return builder.temporary(name, MemorySpace::Host, {n}); }

  Expr n = Expr::dim(0, 0);
  PlanBuilder builder;
  uint32_t negate, isSmall, add, mul, x, y, w;
};

FaultProgram straight() {
  Maker m;
  uint32_t a = m.device("a"), b = m.device("b"), c = m.device("c");
  m.builder.copy(m.x, a);
  m.builder.launch(m.add, {a, m.w, b}, {0});
  m.builder.launch(m.mul, {b, m.w, c}, {1});
  m.builder.copy(c, m.y, {2});
  return {"straight", m.builder.plan, [](const Lanes &x, size_t i, float w) { return (x[i] + w) * w; }};
}

FaultProgram imported() {
  Maker m;
  uint32_t a = m.device("a"), b = m.device("b"), c = m.device("c");
  m.builder.copy(m.x, a);
  m.builder.launch(m.add, {a, a, b}, {0});
  m.builder.launch(m.mul, {b, a, c}, {1});
  m.builder.copy(c, m.y, {2});
  FaultProgram program{"imported", m.builder.plan,
                       [](const Lanes &x, size_t i, float) { return (x[i] + x[i]) * x[i]; }};
  program.importedElements = 70000;
  return program;
}

FaultProgram hostBetween() {
  Maker m;
  uint32_t a = m.device("a"), b = m.device("b"), c = m.device("c"), d = m.device("d");
  uint32_t h = m.host("h"), k = m.host("k");
  m.builder.copy(m.x, a);
  m.builder.launch(m.add, {a, m.w, b}, {0});
  m.builder.copy(b, h, {1});
  m.builder.call(m.negate, {h, k}, {2});
  m.builder.copy(k, c, {3});
  m.builder.launch(m.mul, {c, m.w, d}, {4});
  m.builder.copy(d, m.y, {5});
  return {"hostBetween", m.builder.plan, [](const Lanes &x, size_t i, float w) { return -(x[i] + w) * w; }};
}

FaultProgram scratch() {
  Maker m;
  uint32_t chain = m.chain(), a = m.device("a"), b = m.device("b"), c = m.device("c");
  m.builder.copy(m.x, a);
  m.builder.launch(chain, {a, m.w, b}, {0});
  m.builder.launch(m.add, {b, a, c}, {1});
  m.builder.copy(c, m.y, {2});
  return {"scratch", m.builder.plan, [](const Lanes &x, size_t i, float w) { return (x[i] + w) * w + x[i]; }};
}

FaultProgram branch() {
  Maker m;
  uint32_t condition = m.builder.number("small", ElementType::Bool), a = m.device("a"), b = m.device("b");
  m.builder.copy(m.x, a);
  m.builder.call(m.isSmall, {m.x, condition});
  m.builder.control(StepKind::Branch, {condition},
                    {[&] { m.builder.launch(m.add, {a, m.w, b}); }, [&] { m.builder.launch(m.mul, {a, m.w, b}); }});
  m.builder.copy(b, m.y);
  return {"branch", m.builder.plan, [](const Lanes &x, size_t i, float w) { return x[0] < 100 ? x[i] + w : x[i] * w; }};
}

/// Adds x to itself until its first element is at least 100, then adds the weights.
FaultProgram whileLoop() {
  Maker m;
  uint32_t condition = m.builder.number("small", ElementType::Bool), a = m.device("a"), b = m.device("b"),
           h = m.host("h");
  m.builder.copy(m.x, a);
  m.builder.control(StepKind::While, {condition},
                    {[&] {
                       m.builder.copy(a, h);
                       m.builder.call(m.isSmall, {h, condition});
                     },
                     [&] {
                       m.builder.launch(m.add, {a, a, b});
                       m.builder.copy(b, a);
                     }});
  m.builder.launch(m.add, {a, m.w, b});
  m.builder.copy(b, m.y);
  return {"whileLoop", m.builder.plan, [](const Lanes &x, size_t i, float w) {
            float factor = 1;
            while (x[0] * factor < 100)
              factor *= 2;
            return x[i] * factor + w;
          }};
}

FaultProgram forLoop() {
  Maker m;
  uint32_t k = m.builder.number("k", ElementType::I64), a = m.device("a"), b = m.device("b");
  m.builder.copy(m.x, a);
  m.builder.control(StepKind::For, {k, m.builder.constant(0), m.builder.constant(3), m.builder.constant(1)}, {[&] {
                      m.builder.launch(m.add, {a, m.w, b});
                      m.builder.copy(b, a);
                    }});
  m.builder.launch(m.mul, {a, m.w, b});
  m.builder.copy(b, m.y);
  return {"forLoop", m.builder.plan, [](const Lanes &x, size_t i, float w) { return (x[i] + 3 * w) * w; }};
}

FaultProgram callsBack() {
  FaultProgram program = hostBetween();
  program.plan->callbacks.push_back({"negate", 1, {}});
  program.plan->steps[3].kind = StepKind::Callback;
  program.plan->steps[3].callee = 0;
  program.name = "callsBack";
  program.hasEffects = true;
  return program;
}

FaultProgram withoutVersions() {
  FaultProgram program = hostBetween();
  for (Engine &engine : program.plan->engines)
    engine.hostVersion = -1;
  program.name = "withoutVersions";
  program.canMove = false;
  return program;
}

FaultProgram oneVersion() {
  FaultProgram program = straight();
  program.plan->engines[1].hostVersion = -1;
  program.name = "oneVersion";
  program.canMove = false;
  return program;
}

} // namespace

std::vector<FaultProgram> faultPrograms() {
  return {straight(),  imported(), hostBetween(), scratch(),         branch(),
          whileLoop(), forLoop(),  callsBack(),   withoutVersions(), oneVersion()};
}

std::shared_ptr<HostSymbolResolver> faultLibrary() { return std::make_shared<Library>(); }

Status faultCallback(uint32_t, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                     const std::vector<int64_t> &) {
  for (int64_t i = 0; i < inputs[0].dims[0]; ++i)
    static_cast<float *>(outputs[0].data)[i] = -static_cast<float *>(inputs[0].data)[i];
  return Status::ok();
}

Status callOnce(const FaultProgram &description, Program &program, const std::shared_ptr<std::vector<float>> &x,
                std::vector<float> &y) {
  TensorView input = view(*x);
  if (description.importedElements == 0)
    return program.call({input}, {view(y)});
  input.owner = x;
  StatusOr<std::vector<TensorView>> results = program.call({input});
  if (results.isOk())
    std::copy_n(static_cast<const float *>((*results)[0].data), y.size(), y.begin());
  return results.status();
}

Constant makeWeights(float value) {
  auto owner = std::make_shared<std::vector<float>>();
  for (int64_t i = 0; i < kMaxLanes; ++i)
    owner->push_back(weightOf(value, i));
  return {owner->data(), kMaxLanes * sizeof(float), owner};
}

} // namespace inlay::rt::test
