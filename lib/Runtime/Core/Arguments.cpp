// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

static Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

static std::string nameArgument(const Plan &plan, size_t number) {
  return fmt::format("argument '{}' (number {})", plan.buffers[plan.inputs[number]].name, number);
}

static std::string nameResult(const Plan &plan, size_t number) {
  return fmt::format("result '{}' (number {})", plan.buffers[plan.outputs[number]].name, number);
}

static Status checkCount(const char *what, size_t expected, size_t actual) {
  if (expected == actual)
    return Status::ok();
  return invalid(fmt::format("expected {} {}{}, but got {}", expected, what, expected == 1 ? "" : "s", actual));
}

/// `element` is null when only dims are known.
static Status checkInput(const Plan &plan, size_t number, const InputDims &dims, const ElementType *element) {
  const TensorType &type = plan.buffers[plan.inputs[number]].type;
  ElementType given = element ? *element : type.element;
  StatusOr<std::vector<int64_t>> expected = evaluateDims(type, dims);
  if (!expected.isOk())
    return invalid(fmt::format("{}: {}", nameArgument(plan, number), expected.status().message()));
  if (given != type.element || *expected != dims[number]) {
    bool sameDims = *expected == dims[number];
    return invalid(fmt::format("{}: expected {}, but got {}", nameArgument(plan, number),
                               sameDims ? toString(type) : toString(type.element, *expected),
                               toString(given, dims[number])));
  }
  if (StatusOr<size_t> bytes = byteSize(given, dims[number]); !bytes.isOk())
    return invalid(fmt::format("{}: {}", nameArgument(plan, number), bytes.status().message()));
  return Status::ok();
}

static Status checkInputs(const Plan &plan, const InputDims &dims, const std::vector<TensorView> *views) {
  INLAY_RETURN_IF_ERROR(checkCount("argument", plan.inputs.size(), dims.size()));
  // Ranks first: only then can every dim expression be evaluated.
  for (size_t i = 0; i < dims.size(); ++i) {
    const TensorType &type = plan.buffers[plan.inputs[i]].type;
    if (type.dims.size() != dims[i].size())
      return invalid(fmt::format("{}: expected {}, but got {}", nameArgument(plan, i), toString(type),
                                 toString(views ? (*views)[i].element : type.element, dims[i])));
  }
  for (size_t i = 0; i < dims.size(); ++i)
    INLAY_RETURN_IF_ERROR(checkInput(plan, i, dims, views ? &(*views)[i].element : nullptr));
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

/// The bytes of one argument or result.
struct Span {
  uintptr_t begin, end;
  bool output;
  std::string name;
};

} // namespace

static Status addSpan(const TensorView &view, bool output, std::string name, std::vector<Span> &spans) {
  size_t bytes = *byteSize(view.element, view.dims);
  if (bytes == 0) // may lie nowhere
    return Status::ok();
  if (!view.data)
    return invalid(fmt::format("{}: its data is null", name));
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  spans.push_back({begin, begin + bytes, output, std::move(name)});
  return Status::ok();
}

/// Two inputs may be the same memory; a result shares none, or a step could destroy what a later one reads.
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
    INLAY_RETURN_IF_ERROR(addSpan(inputs[i], false, nameArgument(plan, i), spans));
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
