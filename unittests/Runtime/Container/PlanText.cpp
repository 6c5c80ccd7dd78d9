// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanText.h"

#include <fmt/ranges.h>

namespace inlay::rt::test {

static std::string hex(const void *data, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i)
    text += fmt::format("{:02x}", static_cast<const unsigned char *>(data)[i]);
  return text;
}

static std::string show(const Expr &expr) {
  std::string text = "(";
  for (auto [op, a, b] : expr.code())
    text += fmt::format(" {}:{}:{}", static_cast<int>(op), a, b);
  return text + ")";
}

template <typename List>
static std::string show(const List &exprs) {
  std::string text = "[";
  for (const Expr &expr : exprs)
    text += show(expr);
  return text + "]";
}

template <typename T>
static std::string showNumbers(const std::vector<T> &list) {
  std::string text;
  for (T value : list)
    text += std::to_string(static_cast<int>(value));
  return text;
}

static std::string show(const Engine &engine) {
  std::string text =
      fmt::format("engine {:?} {} {} {}\n", engine.name, engine.arguments, show(engine.scratch), engine.hostVersion);
  for (const Kernel &kernel : engine.kernels)
    text += fmt::format("  kernel {:?} {} {} {} {} {} {}\n", kernel.name, kernel.spirv, showNumbers(kernel.bindings),
                        showNumbers(kernel.kinds), kernel.pushConstants, kernel.block, kernel.requirements);
  for (const Dispatch &dispatch : engine.dispatches)
    text += fmt::format("  dispatch {} {} {} {} {}\n", dispatch.kernel, dispatch.buffers, show(dispatch.grid),
                        show(dispatch.pushConstants), dispatch.calls);
  return text;
}

static std::string show(const HostKernel &kernel) {
  std::string text = fmt::format("  host kernel {:?} {} {} {} {}", kernel.name, static_cast<int>(kernel.kind),
                                 kernel.buffers, kernel.loops, kernel.constants);
  for (const PostOp &op : kernel.postOps)
    text += fmt::format(" {}:{}:{}", static_cast<int>(op.kind), op.low, op.high);
  return text + fmt::format(" {} {} {} {} {} {} {}\n", kernel.hasBias, kernel.accumulates, kernel.channelsLast,
                            static_cast<int>(kernel.mask), kernel.isCausal, kernel.scale, kernel.calls);
}

static std::string show(const HostCode &code) {
  std::string text = fmt::format("host code {:?}\n", code.triple);
  for (const HostObject &object : code.objects)
    text +=
        fmt::format("object {:?} {} {}\n", object.cpu, object.features, hex(object.code.data(), object.code.size()));
  for (const HostFunction &function : code.functions) {
    text +=
        fmt::format("function {:?} {} {} {} {} {}\n", function.symbol, function.arguments, showNumbers(function.access),
                    show(function.sizes), show(function.scratch), show(function.unsharedScratch));
    for (const HostKernel &kernel : function.kernels)
      text += show(kernel);
  }
  return text;
}

std::string describe(const Plan &plan) {
  std::string text = fmt::format("plan {:?} {} {} {}\n", plan.name, plan.inputs, plan.outputs, plan.states);
  for (const Buffer &buffer : plan.buffers)
    text += fmt::format("buffer {} {} {} {} {} {:?}\n", static_cast<int>(buffer.kind), static_cast<int>(buffer.space),
                        buffer.index, static_cast<int>(buffer.type.element), show(buffer.type.dims), buffer.name);
  for (const Symbol &symbol : plan.symbols)
    text += fmt::format("symbol {:?} {} {} {} {} {} {}\n", symbol.name, symbol.min, symbol.max, symbol.input,
                        symbol.dim, symbol.scale, symbol.offset);
  for (const Constant &constant : plan.constants)
    text += fmt::format("constant {:?} {} {} {}\n", constant.key, hex(constant.data, constant.size), constant.dims,
                        constant.order);
  for (const Engine &engine : plan.engines)
    text += show(engine);
  text += show(plan.hostCode);
  for (const Callback &callback : plan.callbacks)
    text += fmt::format("callback {:?} {} {}\n", callback.name, callback.inputs, show(callback.sizes));
  for (const ForeignEngine &engine : plan.foreignEngines)
    text += fmt::format("foreign {:?} {:?} {} {} {}\n", engine.name, engine.runner,
                        hex(engine.payload.data(), engine.payload.size()), engine.arguments, engine.inputs);
  for (const Step &step : plan.steps)
    text += fmt::format("step {} {} {} {} {:?} {} {} {} {}\n", static_cast<int>(step.kind), step.callee, step.buffers,
                        step.after, step.name, step.segment, step.calls, step.bodies, step.limit);
  return text;
}

} // namespace inlay::rt::test
