// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the count, types, dims and overlap of the tensors of a call, in C++. Python checks the arguments of a
// compiled model earlier, in python/inlay/_program/signature.py.

#include "Arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace inlay::rt {

static Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

static std::string nameInput(const Plan &plan, size_t number) {
  return fmt::format("input '{}'", plan.buffers[plan.inputs[number]].name);
}

static std::string nameResult(const Plan &plan, size_t number) {
  return fmt::format("result '{}' (number {})", plan.buffers[plan.outputs[number]].name, number);
}

static Status checkCount(const char *what, size_t expected, size_t actual) {
  if (expected == actual)
    return Status::ok();
  return invalid(fmt::format("expected {} {}{}, but got {}", expected, what, expected == 1 ? "" : "s", actual));
}

static const TensorType &inputType(const Plan &plan, size_t number) { return plan.buffers[plan.inputs[number]].type; }

/// Checks what doesn't depend on other dims: rank, constant dims and element type. `element` is null if only dims are
/// known.
static Status checkInput(const Plan &plan, size_t number, const std::vector<int64_t> &dims,
                         const ElementType *element) {
  const TensorType &type = inputType(plan, number);
  ElementType given = element ? *element : type.element;
  bool fits = given == type.element && dims.size() == type.dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    int64_t size = dims[i];
    type.dims[i].isConstant(size);
    fits = size == dims[i];
  }
  if (!fits)
    return invalid(fmt::format("{}: expected {}, but got {}", nameInput(plan, number), toString(type, plan.symbols),
                               toString(given, dims)));
  if (StatusOr<size_t> bytes = byteSize(given, dims); !bytes.isOk())
    return invalid(fmt::format("{}: {}", nameInput(plan, number), bytes.status().message()));
  return Status::ok();
}

static std::string spellRange(const Symbol &symbol) {
  if (symbol.max == std::numeric_limits<int64_t>::max())
    return fmt::format("at least {}", symbol.min);
  return symbol.min == symbol.max ? fmt::format("{}", symbol.min) : fmt::format("{} to {}", symbol.min, symbol.max);
}

static Status checkRange(const Plan &plan, const Symbol &symbol, const InputDims &dims) {
  StatusOr<int64_t> value = valueOf(symbol).evaluate(dims);
  if (value.isOk() && *value >= symbol.min && *value <= symbol.max)
    return Status::ok();
  std::string dim = spell(inputType(plan, symbol.input).dims[symbol.dim], plan.symbols);
  std::string where = fmt::format("{}: dim {} ('{}') is {}", nameInput(plan, symbol.input), symbol.dim, dim,
                                  dims[symbol.input][symbol.dim]);
  if (!value.isOk())
    return invalid(fmt::format("{}: {}", where, value.status().message()));
  if (dim != symbol.name)
    where += fmt::format(", so '{}' is {}", symbol.name, *value);
  return invalid(fmt::format("{}, but expected {}", where, spellRange(symbol)));
}

/// Returns the dims that `expr` reads: "dim 0 of input 'x' and dim 1 of input 'y'".
static std::string nameDims(const Plan &plan, const Expr &expr) {
  std::string text;
  for (const Expr::Instruction &instruction : expr.code()) {
    if (instruction.op != Expr::Op::Dim)
      continue;
    std::string dim = fmt::format("dim {} of {}", instruction.b, nameInput(plan, instruction.a));
    if (text.find(dim) == std::string::npos)
      text += (text.empty() ? "" : " and ") + dim;
  }
  return text;
}

/// Checks that a dim has the value that its expression gives for the symbols of this call.
static Status checkDerivedDim(const Plan &plan, size_t input, size_t dim, const InputDims &dims) {
  const Expr &expr = inputType(plan, input).dims[dim];
  StatusOr<int64_t> expected = expr.evaluate(dims);
  if (expected.isOk() && *expected == dims[input][dim])
    return Status::ok();
  std::string text = spell(expr, plan.symbols);
  std::string where = fmt::format("{}: dim {} is {}", nameInput(plan, input), dim, dims[input][dim]);
  if (!expected.isOk())
    return invalid(fmt::format("{}, but expected '{}': {}", where, text, expected.status().message()));
  for (const Symbol &symbol : plan.symbols)
    if (symbol.input == input && symbol.dim == dim)
      return invalid(fmt::format("{}, but expected '{}' for a whole number", where, text));
  return invalid(fmt::format("{}, but '{}' is {} according to {}", where, text, *expected, nameDims(plan, expr)));
}

/// Returns the values of the symbols in `expr`: "'rows' is 3 and 'columns' is 5".
static std::string spellValues(const Plan &plan, const Expr &expr, const InputDims &dims) {
  std::string text;
  for (const Symbol &symbol : plan.symbols) {
    bool isRead = std::any_of(expr.code().begin(), expr.code().end(), [&](const Expr::Instruction &instruction) {
      return instruction.op == Expr::Op::Dim && instruction.a == symbol.input && instruction.b == symbol.dim;
    });
    if (StatusOr<int64_t> value = valueOf(symbol).evaluate(dims); isRead && value.isOk())
      text += fmt::format("{}'{}' is {}", text.empty() ? "" : " and ", symbol.name, *value);
  }
  return text;
}

static Status checkCondition(const Plan &plan, const Condition &condition, const InputDims &dims) {
  StatusOr<int64_t> margin = condition.margin.evaluate(dims);
  if (margin.isOk() && *margin >= 0)
    return Status::ok();
  std::string values = spellValues(plan, condition.margin, dims);
  std::string why = margin.isOk() ? "" : ": " + margin.status().message();
  return invalid(fmt::format("expected sizes for which {}, but {}{}", condition.text,
                             values.empty() ? "none meet it" : values, why));
}

static Status checkInputs(const Plan &plan, const InputDims &dims, const std::vector<TensorView> *views) {
  INLAY_RETURN_IF_ERROR(checkCount("input", plan.inputs.size(), dims.size()));
  for (size_t i = 0; i < dims.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkInput(plan, i, dims[i], views ? &(*views)[i].element : nullptr));
  for (const Symbol &symbol : plan.symbols)
    INLAY_RETURN_IF_ERROR(checkRange(plan, symbol, dims));
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t dim = 0; dim < dims[i].size(); ++dim)
      INLAY_RETURN_IF_ERROR(checkDerivedDim(plan, i, dim, dims));
  for (const Condition &condition : plan.conditions)
    INLAY_RETURN_IF_ERROR(checkCondition(plan, condition, dims));
  return Status::ok();
}

Status checkInputDims(const Plan &plan, const InputDims &dims) { return checkInputs(plan, dims, nullptr); }

static Status checkOutputs(const Plan &plan, const InputDims &inputs, const std::vector<TensorView> &views) {
  INLAY_RETURN_IF_ERROR(checkCount("result", plan.outputs.size(), views.size()));
  StatusOr<std::vector<std::vector<int64_t>>> expected = evaluateOutputDims(plan, inputs);
  if (!expected.isOk())
    return expected.status();
  for (size_t i = 0; i < views.size(); ++i) {
    ElementType element = plan.buffers[plan.outputs[i]].type.element;
    if (views[i].element != element || views[i].dims != (*expected)[i])
      return invalid(fmt::format("{}: expected {}, but got {}", nameResult(plan, i), toString(element, (*expected)[i]),
                                 toString(views[i].element, views[i].dims)));
  }
  return Status::ok();
}

namespace {

/// The memory of one argument or result.
struct Span {
  uintptr_t begin, end;
  bool output;
  std::string name;
};

} // namespace

static Status addSpan(const TensorView &view, bool output, std::string name, std::vector<Span> &spans) {
  size_t bytes = *byteSize(view.element, view.dims);
  if (bytes == 0) // an empty tensor may have a null pointer
    return Status::ok();
  if (!view.data)
    return invalid(fmt::format("{}: its data is null", name));
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  spans.push_back({begin, begin + bytes, output, std::move(name)});
  return Status::ok();
}

/// Checks that no result overlaps another result or an input: a step could overwrite what a later one reads. Inputs may
/// overlap each other.
static Status checkOverlap(std::vector<Span> &spans) {
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
  const Span *furthest = nullptr, *furthestOutput = nullptr;
  for (const Span &span : spans) {
    const Span *other = span.output ? furthest : furthestOutput;
    if (other && span.begin < other->end)
      return invalid(fmt::format("{} overlaps {} in memory", span.name, other->name));
    if (!furthest || span.end > furthest->end)
      furthest = &span;
    if (span.output && (!furthestOutput || span.end > furthestOutput->end))
      furthestOutput = &span;
  }
  return Status::ok();
}

Status checkCall(const Plan &plan, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                 InputDims &dims) {
  dims.clear();
  for (const TensorView &view : inputs)
    dims.push_back(view.dims);
  INLAY_RETURN_IF_ERROR(checkInputs(plan, dims, &inputs));
  INLAY_RETURN_IF_ERROR(checkOutputs(plan, dims, outputs));
  std::vector<Span> spans;
  for (size_t i = 0; i < inputs.size(); ++i)
    INLAY_RETURN_IF_ERROR(addSpan(inputs[i], false, nameInput(plan, i), spans));
  for (size_t i = 0; i < outputs.size(); ++i)
    INLAY_RETURN_IF_ERROR(addSpan(outputs[i], true, nameResult(plan, i), spans));
  return checkOverlap(spans);
}

StatusOr<std::vector<std::vector<int64_t>>> evaluateOutputDims(const Plan &plan, const InputDims &inputs) {
  std::vector<std::vector<int64_t>> result;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const TensorType &type = plan.buffers[plan.outputs[i]].type;
    StatusOr<std::vector<int64_t>> dims = evaluateDims(type, inputs);
    if (!dims.isOk())
      return invalid(fmt::format("{}: {}", nameResult(plan, i), dims.status().message()));
    if (StatusOr<size_t> bytes = byteSize(type.element, *dims); !bytes.isOk())
      return invalid(fmt::format("{}: {}", nameResult(plan, i), bytes.status().message()));
    result.push_back(std::move(*dims));
  }
  return result;
}

} // namespace inlay::rt
