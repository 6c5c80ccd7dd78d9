// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzz target: a container from its first byte to its first call. The length and the hash of the input are corrected,
// so that the input reaches the decoder. Host code is linked but not called; it is replaced by functions that do
// nothing.

#include "../Runtime/Container/Image.h"
#include "../Runtime/FakeDevice.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Host/ObjectLoader.h"
#include "inlay/Runtime/Report/PlanText.h"

using namespace inlay::rt;

namespace {

constexpr uint64_t kMemory = uint64_t(64) << 20;

struct NoCode final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &) override {
    return static_cast<HostEntry>([](void *const *) {});
  }
};

struct NoEngine final : LoadedForeignEngine {
  Status run(const std::vector<TensorView> &, const std::vector<TensorView> &) override { return Status::ok(); }
};

struct NoRunner final : Runner {
  StatusOr<std::shared_ptr<LoadedForeignEngine>> load(const ForeignEngine &) override {
    return std::shared_ptr<LoadedForeignEngine>(std::make_shared<NoEngine>());
  }
};

} // namespace

/// Ends the process if an error has no message.
static void expectMessage(const Status &status) {
  if (!status.isOk() && status.message().empty())
    std::abort();
}

/// Reads the bytes of constants as a kernel would. Bytes that are never read are not mapped in.
static void touch(const Plan &plan) {
  volatile unsigned char sum = 0;
  for (const Constant &constant : plan.constants)
    for (size_t i = 0; i < constant.size; ++i)
      sum = static_cast<unsigned char>(sum + static_cast<const unsigned char *>(constant.data)[i]);
}

/// Returns dims of inputs with the smallest sizes that the symbols allow.
static InputDims smallestDims(const Plan &plan) {
  InputDims all;
  for (size_t input = 0; input < plan.inputs.size(); ++input) {
    std::vector<int64_t> &dims = all.emplace_back();
    for (const Expr &dim : plan.buffers[plan.inputs[input]].type.dims) {
      int64_t size = 3;
      if (!dim.isConstant(size))
        for (const Symbol &symbol : plan.symbols)
          if (symbol.input == input && symbol.dim == dims.size())
            if (__builtin_mul_overflow(symbol.scale, symbol.min, &size) ||
                __builtin_add_overflow(size, symbol.offset, &size))
              size = 3;
      dims.push_back(size);
    }
  }
  return all;
}

/// Returns true if tensors with these dims take little memory.
static bool areSmall(const std::vector<uint32_t> &buffers, const std::vector<std::vector<int64_t>> &dims,
                     const Plan &plan) {
  size_t sum = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    StatusOr<size_t> bytes = byteSize(plan.buffers[buffers[i]].type.element, dims[i]);
    if (!bytes.isOk() || *bytes > kMemory - sum)
      return false;
    sum += *bytes;
  }
  return true;
}

/// Calls the program once with zeros, if that takes little memory.
static void call(Program &program, const Plan &plan) {
  InputDims dims = smallestDims(plan);
  auto results = program.outputDims(dims);
  expectMessage(results.status());
  StatusOr<MemoryUse> use = program.memory(dims);
  expectMessage(use.status());
  if (!results.isOk() || !use.isOk() || use->total().peak > kMemory || !areSmall(plan.inputs, dims, plan) ||
      !areSmall(plan.outputs, *results, plan))
    return;
  std::vector<std::vector<char>> memory;
  std::vector<TensorView> inputs;
  for (size_t i = 0; i < dims.size(); ++i) {
    ElementType element = plan.buffers[plan.inputs[i]].type.element;
    memory.emplace_back(*byteSize(element, dims[i]));
    inputs.push_back({memory.back().data(), element, dims[i]});
  }
  program.limitTemporaries({kMemory, kMemory});
  auto session = program.makeSession();
  expectMessage(program.callForResults(inputs, session->get()).status());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string image(reinterpret_cast<const char *>(data), size);
  test::seal(image);
  StatusOr<ContainerContents> saved = test::readImage(image, kMemory);
  if (!saved.isOk())
    return expectMessage(saved.status()), 0;
  touch(*saved->plan);
  expectMessage(describePlan(*saved->plan).status());
  Budget budget(kMemory);
  expectMessage(host::linkHostCode(saved->plan->hostCode, budget).status());
  auto plan = std::make_shared<Plan>(*saved->plan);
  for (Step &step : plan->steps)
    step.limit = std::min<uint64_t>(step.limit, 8); // loops over data that no code computes
  Runners runners;
  for (const ForeignEngine &engine : plan->foreignEngines)
    runners[engine.runner] = std::make_shared<NoRunner>();
  auto callback = [](uint32_t, const auto &, const auto &, const auto &) { return Status::ok(); };
  auto device = std::make_shared<test::FakeDevice>(size % 2 == 0);
  auto program = Program::load(plan, device, std::make_shared<NoCode>(), callback, runners);
  if (!program.isOk())
    return expectMessage(program.status()), 0;
  (*program)->stopWhen([] { return true; });
  call(**program, *plan);
  return 0;
}
