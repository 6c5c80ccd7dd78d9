// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The load-time checker of buffers, constants, inputs, outputs and steps.

#include "inlay/Runtime/Core/PlanChecker.h"
#include "ConstantOrder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace inlay::rt {

namespace {

class Checker {
public:
  explicit Checker(const Plan &plan) : plan_(plan), engineAccess_(plan) {}
  Status run();

private:
  Status checkSymbol(const Symbol &symbol) const;
  Status checkSizes(const std::string &where, const std::vector<Expr> &sizes) const;
  Status checkBuffer(uint32_t number) const;
  Status checkType(uint32_t number) const;
  Status checkConstant(uint32_t number) const;
  Status checkSignature(const std::vector<uint32_t> &list, BufferKind kind, const char *what) const;
  Status checkHostCode() const;
  Status checkHostVersion(const Engine &engine) const;
  Status checkOutputsWritten() const;
  Status checkStep(uint32_t number) const;
  Status checkBodies(uint32_t number, size_t end, size_t depth) const;
  Status checkBody(size_t first, size_t end, size_t depth) const;
  Status checkControlFlow(uint32_t number) const;
  Status checkNumber(uint32_t number, uint32_t buffer, ElementType type) const;
  Status checkLaunch(uint32_t number) const;
  Status checkCopy(uint32_t number) const;
  Status checkHostCall(uint32_t number) const;
  Status checkCallback(uint32_t number) const;
  Status checkForeign(uint32_t number) const;
  Status checkReadsThenWrites(uint32_t number, uint32_t inputs) const;
  Status checkArguments(uint32_t number, MemorySpace space, const std::vector<Access> &access) const;

  std::string nameBuffer(uint32_t number) const {
    return fmt::format("buffer {} ('{}')", number, plan_.buffers[number].name);
  }
  Status badBuffer(uint32_t number, const std::string &what) const {
    return {StatusCode::InvalidArgument, fmt::format("{}: {}", nameBuffer(number), what)};
  }
  Status badStep(uint32_t number, const std::string &what) const {
    return {StatusCode::InvalidArgument, fmt::format("step {} ('{}'): {}", number, plan_.steps[number].name, what)};
  }

  const Plan &plan_;
  std::vector<size_t> ranks_; ///< Ranks of the inputs.
  mutable EngineAccess engineAccess_;
};

} // namespace

static const char *name(BufferKind kind) {
  const char *names[] = {"input", "output", "constant", "temporary", "state"};
  return names[static_cast<size_t>(kind)];
}

static const char *name(MemorySpace space) { return space == MemorySpace::Host ? "host" : "device"; }

Status Checker::checkSymbol(const Symbol &symbol) const {
  auto bad = [&](const std::string &what) {
    return Status(StatusCode::InvalidArgument, fmt::format("symbol '{}': {}", symbol.name, what));
  };
  if (symbol.name.empty())
    return bad("expected a name");
  if (symbol.min < 0 || symbol.min > symbol.max)
    return bad(fmt::format("expected a range from 0 on, but got {} to {}", symbol.min, symbol.max));
  if (symbol.input >= ranks_.size() || symbol.dim >= ranks_[symbol.input])
    return bad(fmt::format("dim {} of input {} doesn't exist", symbol.dim, symbol.input));
  if (symbol.scale == 0)
    return bad("expected a scale other than 0");
  return Status::ok();
}

/// Checks the numbers that a host function or callback gets besides its buffers.
Status Checker::checkSizes(const std::string &where, const std::vector<Expr> &sizes) const {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (Status status = sizes[i].check(ranks_); !status.isOk())
      return {StatusCode::InvalidArgument, fmt::format("{}: size {}: {}", where, i, status.message())};
  return Status::ok();
}

Status Checker::checkType(uint32_t number) const {
  const TensorType &type = plan_.buffers[number].type;
  if (byteWidth(type.element) == 0)
    return badBuffer(number, fmt::format("unknown element type {}", static_cast<int>(type.element)));
  int64_t bytes = static_cast<int64_t>(byteWidth(type.element));
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (Status status = type.dims[i].check(ranks_); !status.isOk())
      return badBuffer(number, fmt::format("dim {}: {}", i, status.message()));
    int64_t dim = 1;
    if (!type.dims[i].isConstant(dim))
      continue;
    if (dim < 0)
      return badBuffer(number, fmt::format("dim {}: expected at least 0, but got {}", i, dim));
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      return badBuffer(number, fmt::format("the byte size of {} overflows 64 bits", toString(type, plan_.symbols)));
  }
  return Status::ok();
}

Status Checker::checkConstant(uint32_t number) const {
  const Buffer &buffer = plan_.buffers[number];
  if (buffer.index >= plan_.constants.size())
    return badBuffer(number, fmt::format("constant {} is out of range of {}", buffer.index, plan_.constants.size()));
  StatusOr<std::vector<int64_t>> dims = evaluateDims(buffer.type, {});
  if (!dims.isOk())
    return badBuffer(number, fmt::format("a constant's type must be static: {}", dims.status().message()));
  StatusOr<size_t> bytes = byteSize(buffer.type.element, *dims);
  if (!bytes.isOk())
    return badBuffer(number, bytes.status().message());
  const Constant &constant = plan_.constants[buffer.index];
  if (constant.size != *bytes)
    return badBuffer(number, fmt::format("expected {} bytes for {}, but constant {} has {}", *bytes,
                                         toString(buffer.type, plan_.symbols), buffer.index, constant.size));
  if (!constant.data && constant.size != 0)
    return badBuffer(number, fmt::format("constant {} has no data", buffer.index));
  if (constant.order.empty() && constant.dims.empty())
    return Status::ok();
  if (constant.dims != std::vector<uint64_t>(dims->begin(), dims->end()))
    return badBuffer(number,
                     fmt::format("expected the dims of constant {}, which has an order, to be [{}], but got [{}]",
                                 buffer.index, fmt::join(*dims, ", "), fmt::join(constant.dims, ", ")));
  if (Status order = checkOrder(constant); !order.isOk())
    return badBuffer(number, order.message());
  return Status::ok();
}

Status Checker::checkBuffer(uint32_t number) const {
  const Buffer &buffer = plan_.buffers[number];
  if (buffer.kind > BufferKind::State)
    return badBuffer(number, fmt::format("unknown kind {}", static_cast<int>(buffer.kind)));
  if (buffer.space > MemorySpace::Device)
    return badBuffer(number, fmt::format("unknown memory space {}", static_cast<int>(buffer.space)));
  INLAY_RETURN_IF_ERROR(checkType(number));
  if (buffer.kind == BufferKind::Constant)
    return checkConstant(number);
  if (buffer.kind == BufferKind::Temporary)
    return Status::ok();
  bool isState = buffer.kind == BufferKind::State;
  if (buffer.space != MemorySpace::Host && !isState)
    return badBuffer(number,
                     fmt::format("expected an {} in host memory, but it is in device memory", name(buffer.kind)));
  const std::vector<uint32_t> &list = isState                            ? plan_.states
                                      : buffer.kind == BufferKind::Input ? plan_.inputs
                                                                         : plan_.outputs;
  if (buffer.index >= list.size() || list[buffer.index] != number)
    return badBuffer(number, fmt::format("is marked as {} {}, but the plan's list has no such entry", name(buffer.kind),
                                         buffer.index));
  return Status::ok();
}

Status Checker::checkSignature(const std::vector<uint32_t> &list, BufferKind kind, const char *what) const {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= plan_.buffers.size())
      return {StatusCode::InvalidArgument,
              fmt::format("{} {}: buffer {} is out of range of {}", what, i, list[i], plan_.buffers.size())};
    const Buffer &buffer = plan_.buffers[list[i]];
    if (buffer.kind != kind || buffer.index != i)
      return {StatusCode::InvalidArgument, fmt::format("{} {}: {} isn't this {}", what, i, nameBuffer(list[i]), what)};
  }
  return Status::ok();
}

Status Checker::checkHostCode() const {
  for (const HostFunction &function : plan_.hostCode.functions) {
    if (!function.access.empty() && function.access.size() != function.arguments)
      return {StatusCode::InvalidArgument, fmt::format("host function '{}': expected {} accesses, but got {}",
                                                       function.symbol, function.arguments, function.access.size())};
    for (Access access : function.access)
      if (access > Access::ReadWrite)
        return {StatusCode::InvalidArgument,
                fmt::format("host function '{}': unknown access {}", function.symbol, static_cast<int>(access))};
    INLAY_RETURN_IF_ERROR(checkSizes(fmt::format("host function '{}'", function.symbol), function.sizes));
    INLAY_RETURN_IF_ERROR(checkSizes(fmt::format("host function '{}'", function.symbol), function.unsharedScratch));
    INLAY_RETURN_IF_ERROR(checkSizes(fmt::format("host function '{}': scratch", function.symbol), function.scratch));
    if (function.scratch.size() > function.arguments)
      return {StatusCode::InvalidArgument,
              fmt::format("host function '{}': expected at most {} scratch arguments, but got {}", function.symbol,
                          function.arguments, function.scratch.size())};
  }
  return Status::ok();
}

/// Checks that a host version can replace its engine: it takes the same buffers and writes only those that the engine
/// writes.
Status Checker::checkHostVersion(const Engine &engine) const {
  auto bad = [&](const std::string &what) {
    return Status(StatusCode::InvalidArgument, fmt::format("engine '{}': {}", engine.name, what));
  };
  if (engine.hostVersion == -1)
    return Status::ok();
  const std::vector<HostFunction> &functions = plan_.hostCode.functions;
  if (engine.hostVersion < 0 || static_cast<size_t>(engine.hostVersion) >= functions.size())
    return bad(fmt::format("its host version {} is out of range of {}", engine.hostVersion, functions.size()));
  const HostFunction &function = functions[engine.hostVersion];
  if (function.arguments != uint64_t(engine.arguments) + function.scratch.size())
    return bad(fmt::format("expected its host version '{}' to take {} buffers and {} scratch buffers, but it takes {}",
                           function.symbol, engine.arguments, function.scratch.size(), function.arguments));
  if (function.access.empty())
    return Status::ok();
  // Only used arguments are visited: buffers without elements are in no dispatch, and a file of a few bytes can declare
  // many arguments.
  std::map<uint32_t, bool> written; // by argument
  for (const Dispatch &dispatch : engine.dispatches)
    for (size_t i = 0; i < dispatch.buffers.size(); ++i)
      if (dispatch.buffers[i] < engine.arguments)
        written[dispatch.buffers[i]] |= writes(engine.kernels[dispatch.kernel].bindings[i]);
  for (auto [argument, isWritten] : written)
    if (writes(function.access[argument]) && !isWritten)
      return bad(
          fmt::format("its host version '{}' writes argument {}, which the engine doesn't", function.symbol, argument));
  return Status::ok();
}

Status Checker::checkArguments(uint32_t number, MemorySpace space, const std::vector<Access> &access) const {
  const Step &step = plan_.steps[number];
  if (step.buffers.size() != access.size())
    return badStep(number, fmt::format("expected {} buffers, but got {}", access.size(), step.buffers.size()));
  for (size_t i = 0; i < access.size(); ++i) {
    const Buffer &buffer = plan_.buffers[step.buffers[i]];
    if (buffer.space != space)
      return badStep(number, fmt::format("expected {} in {} memory, but it is in {} memory",
                                         nameBuffer(step.buffers[i]), name(space), name(buffer.space)));
    bool readOnly = buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Constant;
    if (readOnly && writes(access[i]))
      return badStep(number, fmt::format("writes {}, which is an {}", nameBuffer(step.buffers[i]),
                                         buffer.kind == BufferKind::Input ? "input" : "unchangeable constant"));
  }
  return Status::ok();
}

Status Checker::checkLaunch(uint32_t number) const {
  const Step &step = plan_.steps[number];
  const Engine &engine = plan_.engines[step.callee];
  if (step.buffers.size() != engine.arguments)
    return badStep(number, fmt::format("expected {} buffers, but got {}", engine.arguments, step.buffers.size()));
  return checkArguments(number, MemorySpace::Device, engineAccess_.of(step.callee));
}

Status Checker::checkHostCall(uint32_t number) const {
  const Step &step = plan_.steps[number];
  const HostFunction &function = plan_.hostCode.functions[step.callee];
  // If no accesses are given, treat each argument as read, which forbids nothing.
  std::vector<Access> access = function.access;
  if (step.buffers.size() != function.arguments)
    return badStep(number, fmt::format("expected {} buffers, but got {}", function.arguments, step.buffers.size()));
  if (access.empty())
    access.assign(function.arguments, Access::Read);
  return checkArguments(number, MemorySpace::Host, access);
}

Status Checker::checkForeign(uint32_t number) const {
  const Step &step = plan_.steps[number];
  const ForeignEngine &engine = plan_.foreignEngines[step.callee];
  if (engine.inputs > engine.arguments)
    return badStep(number, fmt::format("expected at most {} inputs of '{}', but got {}", engine.arguments, engine.name,
                                       engine.inputs));
  if (step.buffers.size() != engine.arguments)
    return badStep(number, fmt::format("expected {} buffers, but got {}", engine.arguments, step.buffers.size()));
  return checkReadsThenWrites(number, engine.inputs);
}

Status Checker::checkCallback(uint32_t number) const {
  return checkReadsThenWrites(number, plan_.callbacks[plan_.steps[number].callee].inputs);
}

/// Checks a step that reads its leading `inputs` buffers and writes the others.
Status Checker::checkReadsThenWrites(uint32_t number, uint32_t inputs) const {
  const Step &step = plan_.steps[number];
  if (inputs > step.buffers.size())
    return badStep(number, fmt::format("expected at least {} buffers, but got {}", inputs, step.buffers.size()));
  for (size_t i = inputs; i < step.buffers.size(); ++i)
    if (plan_.buffers[step.buffers[i]].kind == BufferKind::State)
      return badStep(number, fmt::format("writes {}, which is a state: expected it among the inputs only",
                                         nameBuffer(step.buffers[i])));
  std::vector<Access> access(step.buffers.size(), Access::Write);
  std::fill(access.begin(), access.begin() + inputs, Access::Read);
  return checkArguments(number, MemorySpace::Host, access);
}

Status Checker::checkCopy(uint32_t number) const {
  const Step &step = plan_.steps[number];
  if (step.buffers.size() != 2)
    return badStep(number, fmt::format("expected 2 buffers to copy, but got {}", step.buffers.size()));
  uint32_t from = step.buffers[0], to = step.buffers[1];
  if (from == to)
    return badStep(number, fmt::format("copies {} to itself", nameBuffer(from)));
  const Buffer &source = plan_.buffers[from];
  bool isOrdered = source.kind == BufferKind::Constant && !plan_.constants[source.index].order.empty();
  if (isOrdered && source.space == MemorySpace::Device)
    return badStep(number, fmt::format("copies {}, which the device stores in another order", nameBuffer(from)));
  BufferKind kind = plan_.buffers[to].kind;
  if (kind == BufferKind::Input || kind == BufferKind::Constant)
    return badStep(number, fmt::format("writes {}, which is an {}", nameBuffer(to),
                                       kind == BufferKind::Input ? "input" : "unchangeable constant"));
  int64_t sizes[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const TensorType &type = plan_.buffers[step.buffers[i]].type;
    sizes[i] = static_cast<int64_t>(byteWidth(type.element));
    for (const Expr &dim : type.dims) {
      int64_t value = 0;
      if (!dim.isConstant(value))
        return Status::ok(); // dynamic sizes are compared at the call
      sizes[i] *= value;
    }
  }
  if (sizes[0] != sizes[1])
    return badStep(number, fmt::format("copies {} of {} bytes to {} of {} bytes", nameBuffer(from), sizes[0],
                                       nameBuffer(to), sizes[1]));
  return Status::ok();
}

/// Checks that a buffer that controls a step holds a single number in host memory.
Status Checker::checkNumber(uint32_t number, uint32_t buffer, ElementType type) const {
  const TensorType &actual = plan_.buffers[buffer].type;
  if (actual.element != type || !actual.dims.empty())
    return badStep(number, fmt::format("expected {} to be one {}, but it is {}", nameBuffer(buffer), rt::name(type),
                                       toString(actual, plan_.symbols)));
  return Status::ok();
}

/// Returns the accesses of a step with bodies to its buffers: a condition, or a position and its range.
static std::vector<Access> controlAccess(StepKind kind) {
  if (kind == StepKind::For)
    return {Access::Write, Access::Read, Access::Read, Access::Read};
  return {Access::Read};
}

Status Checker::checkControlFlow(uint32_t number) const {
  const Step &step = plan_.steps[number];
  INLAY_RETURN_IF_ERROR(checkArguments(number, MemorySpace::Host, controlAccess(step.kind)));
  ElementType type = step.kind == StepKind::For ? ElementType::I64 : ElementType::Bool;
  for (uint32_t buffer : step.buffers)
    INLAY_RETURN_IF_ERROR(checkNumber(number, buffer, type));
  return Status::ok();
}

/// Checks that a step has the bodies of its kind, and that they end before `end`, the end of the surrounding body.
Status Checker::checkBodies(uint32_t number, size_t end, size_t depth) const {
  constexpr size_t kMaxNesting = 256; // the executor runs bodies recursively
  const Step &step = plan_.steps[number];
  if (step.bodies.size() != bodyCount(step.kind))
    return badStep(number, fmt::format("expected {} bodies, but got {}", bodyCount(step.kind), step.bodies.size()));
  if (depth > kMaxNesting)
    return badStep(number, fmt::format("bodies are nested more than {} deep", kMaxNesting));
  size_t first = number + 1;
  for (uint32_t count : step.bodies) {
    if (count > end - first)
      return badStep(number, fmt::format("expected bodies of at most {} steps, but got one of {}", end - first, count));
    INLAY_RETURN_IF_ERROR(checkBody(first, first + count, depth + 1));
    first += count;
  }
  return Status::ok();
}

Status Checker::checkBody(size_t first, size_t end, size_t depth) const {
  for (size_t number = first; number < end; number += countSteps(plan_.steps[number]))
    INLAY_RETURN_IF_ERROR(checkBodies(number, end, depth));
  return Status::ok();
}

/// Maximum number of segments. No graph could have so many; the limit bounds tables that are indexed by them.
static constexpr int32_t maxSegments = 1 << 22;

Status Checker::checkStep(uint32_t number) const {
  const Step &step = plan_.steps[number];
  if (step.segment < -1 || step.segment >= maxSegments)
    return badStep(number, fmt::format("expected a segment from -1 to {}, but got {}", maxSegments - 1, step.segment));
  for (uint32_t buffer : step.buffers)
    if (buffer >= plan_.buffers.size())
      return badStep(number, fmt::format("buffer {} is out of range of {}", buffer, plan_.buffers.size()));
  for (uint32_t earlier : step.after)
    if (earlier >= number)
      return badStep(number, fmt::format("runs after step {}, which doesn't come before it", earlier));
  if (step.kind == StepKind::Copy)
    return checkCopy(number);
  if (bodyCount(step.kind) > 0)
    return checkControlFlow(number);
  size_t callees[] = {plan_.engines.size(), plan_.hostCode.functions.size(), 0, plan_.callbacks.size(),
                      plan_.foreignEngines.size()};
  if (step.kind > StepKind::RunForeign)
    return badStep(number, fmt::format("unknown kind {}", static_cast<int>(step.kind)));
  if (step.callee >= callees[static_cast<size_t>(step.kind)])
    return badStep(
        number, fmt::format("callee {} is out of range of {}", step.callee, callees[static_cast<size_t>(step.kind)]));
  switch (step.kind) {
  case StepKind::LaunchEngine:
    return checkLaunch(number);
  case StepKind::CallHost:
    return checkHostCall(number);
  case StepKind::RunForeign:
    return checkForeign(number);
  default:
    return checkCallback(number);
  }
}

Status Checker::checkOutputsWritten() const {
  std::vector<bool> written(plan_.buffers.size());
  for (const StepAccesses &accesses : stepAccesses(plan_))
    for (auto [buffer, access] : accesses)
      if (writes(access))
        written[buffer] = true;
  for (size_t i = 0; i < plan_.outputs.size(); ++i)
    if (!written[plan_.outputs[i]])
      return {StatusCode::InvalidArgument,
              fmt::format("output {}: no step writes {}", i, nameBuffer(plan_.outputs[i]))};
  return Status::ok();
}

Status Checker::run() {
  INLAY_RETURN_IF_ERROR(checkSignature(plan_.inputs, BufferKind::Input, "input"));
  INLAY_RETURN_IF_ERROR(checkSignature(plan_.outputs, BufferKind::Output, "output"));
  INLAY_RETURN_IF_ERROR(checkSignature(plan_.states, BufferKind::State, "state"));
  for (uint32_t input : plan_.inputs)
    ranks_.push_back(plan_.buffers[input].type.dims.size());
  for (const Symbol &symbol : plan_.symbols)
    INLAY_RETURN_IF_ERROR(checkSymbol(symbol));
  for (const Condition &condition : plan_.conditions)
    INLAY_RETURN_IF_ERROR(checkSizes(fmt::format("condition '{}'", condition.text), {condition.margin}));
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkBuffer(i));
  for (const Engine &engine : plan_.engines)
    INLAY_RETURN_IF_ERROR(checkEngine(engine, ranks_));
  INLAY_RETURN_IF_ERROR(checkHostCode());
  for (const Engine &engine : plan_.engines)
    INLAY_RETURN_IF_ERROR(checkHostVersion(engine));
  for (const Callback &callback : plan_.callbacks)
    INLAY_RETURN_IF_ERROR(checkSizes(fmt::format("callback '{}'", callback.name), callback.sizes));
  for (uint32_t i = 0; i < plan_.steps.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkStep(i));
  INLAY_RETURN_IF_ERROR(checkBody(0, plan_.steps.size(), 0));
  return checkOutputsWritten();
}

const std::vector<Access> &EngineAccess::of(uint32_t engine) {
  std::optional<std::vector<Access>> &access = access_[engine];
  if (!access)
    access = argumentAccess(plan_.engines[engine]);
  return *access;
}

std::optional<uint32_t> findWrittenTwice(const std::vector<uint32_t> &buffers, const std::vector<Access> &access) {
  std::vector<uint32_t> sorted = buffers;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < buffers.size(); ++i) {
    auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), buffers[i]);
    if (writes(access[i]) && last - first > 1)
      return buffers[i];
  }
  return std::nullopt;
}

static StepAccesses stepAccess(const Plan &plan, const Step &step, EngineAccess &engines) {
  std::vector<Access> access(step.buffers.size(), Access::ReadWrite);
  if (step.kind == StepKind::LaunchEngine)
    access = engines.of(step.callee);
  else if (step.kind == StepKind::Copy)
    access = {Access::Read, Access::Write};
  else if (step.kind == StepKind::CallHost && !plan.hostCode.functions[step.callee].access.empty())
    access = plan.hostCode.functions[step.callee].access;
  else if (bodyCount(step.kind) > 0)
    access = controlAccess(step.kind);
  else if (step.kind == StepKind::Callback || step.kind == StepKind::RunForeign) {
    uint32_t inputs =
        step.kind == StepKind::Callback ? plan.callbacks[step.callee].inputs : plan.foreignEngines[step.callee].inputs;
    for (size_t i = 0; i < access.size(); ++i)
      access[i] = i < inputs ? Access::Read : Access::Write;
  }
  StepAccesses result;
  result.reserve(access.size());
  for (size_t i = 0; i < access.size(); ++i)
    result.emplace_back(step.buffers[i], access[i]);
  return result;
}

std::vector<StepAccesses> stepAccesses(const Plan &plan) {
  EngineAccess engines(plan);
  std::vector<StepAccesses> accesses;
  accesses.reserve(plan.steps.size());
  for (const Step &step : plan.steps)
    accesses.push_back(stepAccess(plan, step, engines));
  return accesses;
}

Status checkPlan(const Plan &plan) { return Checker(plan).run(); }

} // namespace inlay::rt
