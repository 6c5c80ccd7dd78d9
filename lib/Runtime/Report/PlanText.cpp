// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes a plan and a container as text, for `inlay-run --describe`. ProfileText.cpp writes measured times.

#include "inlay/Runtime/Report/PlanText.h"
#include "ReportJson.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Text.h"
#include "inlay/Runtime/Report/ReportKeys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace inlay::rt {

/// Returns the first names of a list.
static std::string listOf(const std::vector<std::string> &names) {
  constexpr size_t kMaxNames = 64;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    text += (i ? ", " : "") + escapeName(names[i]);
  if (names.size() > kMaxNames)
    text += fmt::format(" and {} more", names.size() - kMaxNames);
  return names.empty() ? "nothing" : text;
}

/// Returns the symbols with names for output.
static std::vector<Symbol> escapeNames(std::vector<Symbol> symbols) {
  for (Symbol &symbol : symbols)
    symbol.name = escapeName(symbol.name);
  return symbols;
}

/// Returns the type as text. A type whose text could be long has only its rank.
static std::string describeType(const TensorType &type, const std::vector<Symbol> &symbols) {
  constexpr size_t kMaxInstructions = 256, kMaxSymbols = 64; // the text takes time for each symbol
  size_t instructions = 0;
  for (const Expr &dim : type.dims)
    instructions += dim.code().size();
  return instructions <= kMaxInstructions && symbols.size() <= kMaxSymbols
             ? toString(type, symbols)
             : fmt::format("{} of rank {}", name(type.element), type.dims.size());
}

static std::string describeValues(const Plan &plan, const char *title, const std::vector<uint32_t> &numbers,
                                  const std::vector<Symbol> &symbols) {
  std::string text = fmt::format("{}\n", title);
  for (uint32_t number : numbers)
    text += fmt::format("  {}: {}\n", escapeName(plan.buffers[number].name),
                        describeType(plan.buffers[number].type, symbols));
  return text;
}

static std::string describeConditions(const Plan &plan) {
  std::string text;
  for (const Condition &condition : plan.conditions)
    text += fmt::format("  {}\n", escapeName(condition.text));
  return text.empty() ? text : "conditions on sizes\n" + text;
}

/// Returns the name of the code that a step runs.
static std::string describeCallee(const Plan &plan, const Step &step) {
  switch (step.kind) {
  case StepKind::LaunchEngine:
    return plan.engines[step.callee].name;
  case StepKind::CallHost:
    return plan.hostCode.functions[step.callee].symbol;
  case StepKind::Callback:
    return plan.callbacks[step.callee].name;
  case StepKind::RunForeign:
    return plan.foreignEngines[step.callee].name;
  default:
    return "";
  }
}

static std::string describeSteps(const Plan &plan) {
  std::string text = "steps\n";
  std::vector<size_t> ends; // ends of the bodies around the current step
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const Step &step = plan.steps[number];
    while (!ends.empty() && ends.back() <= number)
      ends.pop_back();
    std::string buffers;
    for (uint32_t buffer : step.buffers)
      buffers += fmt::format("{}%{}", buffers.empty() ? "" : " ", buffer);
    std::string callee = describeCallee(plan, step);
    text += fmt::format("  {:>4}  {}{}{}{} ({})\n", number, std::string(2 * ends.size(), ' '), name(step.kind),
                        callee.empty() ? "" : " " + escapeName(callee),
                        step.segment < 0 ? "" : fmt::format(" of segment {}", step.segment), buffers);
    if (!step.bodies.empty())
      ends.push_back(number + countSteps(step));
  }
  return text;
}

static std::string describeBuffers(const Plan &plan, const std::vector<Symbol> &symbols) {
  static constexpr const char *kKinds[] = {"input", "result", "constant", "temporary", "state"};
  std::string text = "buffers\n";
  const InputDims dims(plan.inputs.size()); // so that only sizes that are the same for all inputs have a value
  for (size_t number = 0; number < plan.buffers.size(); ++number) {
    const Buffer &buffer = plan.buffers[number];
    StatusOr<std::vector<int64_t>> sizes = evaluateDims(buffer.type, dims);
    StatusOr<size_t> bytes = sizes.isOk() ? byteSize(buffer.type.element, *sizes) : StatusOr<size_t>(sizes.status());
    text += fmt::format(
        "  {:>4}  {:<9}  {:<6}  {:>10}  {} {}\n", fmt::format("%{}", number), kKinds[static_cast<size_t>(buffer.kind)],
        buffer.space == MemorySpace::Device ? "device" : "host", bytes.isOk() ? formatBytes(*bytes) : "?",
        describeType(buffer.type, symbols), escapeName(buffer.name));
  }
  return text;
}

static std::string describeEngines(const Plan &plan) {
  std::string text;
  for (const Engine &engine : plan.engines) {
    std::set<std::string> needs;
    size_t words = 0;
    for (const Kernel &kernel : engine.kernels) {
      needs.insert(kernel.requirements.begin(), kernel.requirements.end());
      words += kernel.spirv.size();
    }
    text += fmt::format("engine {}: {} kernels ({} of SPIR-V), {} dispatches, needs {}, {}\n", escapeName(engine.name),
                        engine.kernels.size(), formatBytes(words * sizeof(uint32_t)), engine.dispatches.size(),
                        listOf({needs.begin(), needs.end()}),
                        engine.hostVersion < 0 ? "no host version" : "with a host version");
  }
  return text;
}

static std::string describeHostCode(const HostCode &code) {
  std::string text;
  for (const HostObject &object : code.objects)
    text += fmt::format("host code for {}, {}: {}, {} functions, needs {}\n", escapeName(code.triple),
                        escapeName(object.cpu), formatBytes(object.code.size()), code.functions.size(),
                        listOf(object.features));
  return text;
}

StatusOr<std::string> describePlan(const Plan &plan) {
  INLAY_RETURN_IF_ERROR(checkPlan(plan));
  std::vector<Symbol> symbols = escapeNames(plan.symbols);
  uint64_t constants = 0;
  for (const Constant &constant : plan.constants)
    constants += constant.size;
  return fmt::format("program '{}'\n", escapeName(plan.name)) + describeValues(plan, "inputs", plan.inputs, symbols) +
         describeValues(plan, "results", plan.outputs, symbols) +
         (plan.states.empty() ? "" : describeValues(plan, "states", plan.states, symbols)) + describeConditions(plan) +
         describeSteps(plan) + describeBuffers(plan, symbols) + describeEngines(plan) +
         describeHostCode(plan.hostCode) +
         fmt::format("{} constants: {}\n", plan.constants.size(), formatBytes(constants));
}

/// Returns the bytes of the weights of each type in a report: "weights: 1.5 KiB f32, 512 B u4\n". Returns "" if the
/// report has none.
static std::string describeWeights(const Json &report) {
  const Json *weights = findObject(findObject(&report, "summary"), "weights");
  std::vector<std::string> parts;
  if (weights)
    for (const auto &[type, bytes] : weights->items())
      if (bytes.is_number_unsigned())
        parts.push_back(fmt::format("{} {}", formatBytes(bytes.get<uint64_t>()), type)); // `listOf` escapes them
  return parts.empty() ? "" : fmt::format("weights: {}\n", listOf(parts));
}

/// Summarizes a report: "report: 3 segments: 2 on vulkan, 1 on host", and the line of its weights.
static std::string describeReport(const std::string &report) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return report.empty() ? "no report\n" : fmt::format("a report of {}\n", formatBytes(report.size()));
  const Json &segments = *findArray(&*root, "segments");
  std::map<std::string, size_t> targets;
  for (const Json &segment : segments)
    ++targets[textOf(&segment, "target")];
  std::vector<std::string> parts;
  for (const auto &[target, count] : targets)
    parts.push_back(fmt::format("{} on {}", count, target)); // `listOf` escapes them
  return fmt::format("report: {} segments: {}\n", segments.size(), listOf(parts)) + describeWeights(*root);
}

std::string describeContainer(const ContainerInfo &info) {
  std::string text = fmt::format("container of version {}.{}, {}{}\n", info.major, info.minor,
                                 info.arch.empty() ? "no host code" : "host code for " + info.arch,
                                 info.requirements.empty() ? "" : ", needs a device with " + listOf(info.requirements));
  text += describeReport(info.report);
  if (!info.metadata.empty())
    text += fmt::format("metadata: {}\n", escapeControls(info.metadata));
  text += "sections\n";
  for (const ContainerSection &section : info.sections)
    text += fmt::format("  {:<12}  {:>10} from byte {}\n", section.name, formatBytes(section.bytes), section.offset);
  return text;
}

} // namespace inlay::rt
