// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the load-time checker that checks a single engine.

#include "inlay/Runtime/Core/PlanChecker.h"

#include <fmt/format.h>

namespace inlay::rt {

static Status invalid(const Engine &engine, const std::string &what) {
  return {StatusCode::InvalidArgument, fmt::format("engine '{}': {}", engine.name, what)};
}

/// Returns the fault of an expression; empty if there is none.
static std::string faultOf(const Expr &expr, const std::vector<size_t> &ranks) {
  if (Status status = expr.check(ranks); !status.isOk())
    return status.message();
  int64_t value = 0;
  bool dynamic = false;
  for (const Expr::Instruction &instruction : expr.code())
    dynamic |= instruction.op == Expr::Op::Dim;
  return dynamic || expr.isConstant(value) ? "" : fmt::format("{} has no value", spell(expr, {}));
}

static Status checkKernel(const Engine &engine, size_t number) {
  const Kernel &kernel = engine.kernels[number];
  std::string where = fmt::format("kernel {} ('{}')", number, kernel.name);
  if (kernel.spirv.empty())
    return invalid(engine, fmt::format("{} has no SPIR-V", where));
  for (Access access : kernel.bindings)
    if (access > Access::ReadWrite)
      return invalid(engine, fmt::format("{}: unknown access {}", where, static_cast<int>(access)));
  if (!kernel.kinds.empty() && kernel.kinds.size() != kernel.bindings.size())
    return invalid(engine, fmt::format("{}: expected {} kinds of bindings, but got {}", where, kernel.bindings.size(),
                                       kernel.kinds.size()));
  for (size_t i = 0; i < kernel.kinds.size(); ++i) {
    if (kernel.kinds[i] > BindingKind::VectorTexels)
      return invalid(engine, fmt::format("{}: unknown kind of binding {}", where, static_cast<int>(kernel.kinds[i])));
    if (kernel.kinds[i] != BindingKind::Storage && kernel.bindings[i] != Access::Read)
      return invalid(engine, fmt::format("{}: binding {} is a texel buffer, but written", where, i));
  }
  for (uint32_t size : kernel.block)
    if (size == 0)
      return invalid(engine, fmt::format("{}: expected a block of at least 1x1x1, but got {}x{}x{}", where,
                                         kernel.block[0], kernel.block[1], kernel.block[2]));
  return Status::ok();
}

static Status checkDispatch(const Engine &engine, size_t number, const std::vector<size_t> &ranks) {
  const Dispatch &dispatch = engine.dispatches[number];
  if (dispatch.kernel >= engine.kernels.size())
    return invalid(engine, fmt::format("dispatch {}: kernel {} is out of range of {}", number, dispatch.kernel,
                                       engine.kernels.size()));
  const Kernel &kernel = engine.kernels[dispatch.kernel];
  // The name is copied only for an error: it may be long, and many dispatches may share it.
  auto bad = [&](const std::string &what) {
    return invalid(engine, fmt::format("dispatch {} (kernel '{}'): {}", number, kernel.name, what));
  };
  if (dispatch.buffers.size() != kernel.bindings.size())
    return bad(fmt::format("expected {} buffers, but got {}", kernel.bindings.size(), dispatch.buffers.size()));
  size_t buffers = size_t(engine.arguments) + engine.scratch.size();
  for (uint32_t buffer : dispatch.buffers)
    if (buffer >= buffers)
      return bad(fmt::format("buffer {} is out of range of {} arguments and {} scratch buffers", buffer,
                             engine.arguments, engine.scratch.size()));
  if (dispatch.pushConstants.size() != kernel.pushConstants)
    return bad(
        fmt::format("expected {} push constants, but got {}", kernel.pushConstants, dispatch.pushConstants.size()));
  for (const Expr &expr : dispatch.grid)
    if (std::string fault = faultOf(expr, ranks); !fault.empty())
      return bad("grid: " + fault);
  for (const Expr &expr : dispatch.pushConstants)
    if (std::string fault = faultOf(expr, ranks); !fault.empty())
      return bad("push constant: " + fault);
  return Status::ok();
}

/// Maximum number of arguments. No kernel could bind so many; the limit bounds sizes that come from a file.
static constexpr uint32_t maxArguments = 1 << 16;

Status checkEngine(const Engine &engine, const std::vector<size_t> &inputRanks) {
  if (engine.arguments > maxArguments)
    return invalid(engine, fmt::format("expected at most {} arguments, but got {}", maxArguments, engine.arguments));
  for (size_t i = 0; i < engine.scratch.size(); ++i) {
    if (std::string fault = faultOf(engine.scratch[i], inputRanks); !fault.empty())
      return invalid(engine, fmt::format("scratch {}: {}", i, fault));
    int64_t bytes = 1;
    if (engine.scratch[i].isConstant(bytes) && bytes < 1)
      return invalid(engine, fmt::format("scratch {}: expected at least 1 byte, but got {}", i, bytes));
  }
  for (size_t i = 0; i < engine.kernels.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkKernel(engine, i));
  for (size_t i = 0; i < engine.dispatches.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkDispatch(engine, i, inputRanks));
  return Status::ok();
}

std::vector<Access> argumentAccess(const Engine &engine) {
  std::vector<bool> read(engine.arguments), written(engine.arguments);
  for (const Dispatch &dispatch : engine.dispatches) {
    const std::vector<Access> &bindings = engine.kernels[dispatch.kernel].bindings;
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (dispatch.buffers[i] >= engine.arguments)
        continue;
      // A buffer that an earlier dispatch writes counts as read if a later one reads it. That is conservative.
      read[dispatch.buffers[i]] = read[dispatch.buffers[i]] || reads(bindings[i]);
      written[dispatch.buffers[i]] = written[dispatch.buffers[i]] || writes(bindings[i]);
    }
  }
  std::vector<Access> access(engine.arguments, Access::Read);
  for (size_t i = 0; i < access.size(); ++i)
    if (written[i])
      access[i] = read[i] ? Access::ReadWrite : Access::Write;
  return access;
}

} // namespace inlay::rt
