// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReportObject.h"
#include "inlay/Execution/ReportKeys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace inlay;
using rt::StatusOr;
namespace json = llvm::json;

static json::Object describe(const rt::HostKernel &kernel) {
  json::Object entry{{"kind", rt::name(kernel.kind)}, {"ops", json::Array(kernel.calls)}};
  json::Array postOps;
  for (const rt::PostOp &postOp : kernel.postOps)
    postOps.push_back(rt::name(postOp.kind));
  if (!postOps.empty())
    entry["post_ops"] = std::move(postOps);
  if (kernel.hasBias)
    entry["bias"] = true;
  return entry;
}

/// The kernels of what a step calls; none if it doesn't tell them apart.
static json::Array describeKernels(const rt::Plan &plan, const rt::Step &step) {
  json::Array kernels;
  if (step.kind == rt::StepKind::LaunchEngine)
    for (const rt::Dispatch &dispatch : plan.engines[step.callee].dispatches)
      kernels.push_back(json::Object{{"kind", "dispatch"}, {"ops", json::Array(dispatch.calls)}});
  if (step.kind == rt::StepKind::CallHost)
    for (const rt::HostKernel &kernel : plan.hostCode.functions[step.callee].kernels)
      kernels.push_back(describe(kernel));
  return kernels;
}

/// Where the last member of each object in the outermost object's array `key` ends. JSON objects of LLVM's have no
/// order, so that what is added to a report has to be added to its text.
static std::vector<size_t> findObjectEnds(llvm::StringRef text, llvm::StringRef key) {
  std::vector<size_t> ends;
  bool isInside = false;
  for (size_t i = 0, depth = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      size_t start = i + 1;
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      if (depth == 1 && text.substr(i + 1).ltrim().starts_with(":"))
        isInside = text.slice(start, i) == key;
    } else if (text[i] == '{' || text[i] == '[') {
      ++depth;
    } else if (text[i] == '}' || text[i] == ']') {
      --depth;
      if (isInside && depth == 2 && text[i] == '}')
        ends.push_back(text.take_front(i).rtrim().size());
    }
  }
  return ends;
}

/// As a member of an object of a segment, indented as reports are.
static std::string formatMember(json::Array kernels) {
  std::string text = llvm::formatv("{0:2}", json::Value(std::move(kernels))).str(), member = ",\n      \"kernels\": ";
  for (char c : text)
    member += c == '\n' ? std::string("\n      ") : std::string(1, c);
  return member;
}

std::string inlay::addKernels(const std::string &report, const rt::Plan &plan) {
  if (!parseReport(report).isOk())
    return report;
  std::vector<size_t> ends = findObjectEnds(report, "segments");
  std::vector<json::Array> kernels(ends.size());
  for (const rt::Step &step : plan.steps)
    if (step.segment >= 0 && static_cast<size_t>(step.segment) < kernels.size())
      llvm::append_range(kernels[step.segment], describeKernels(plan, step));
  std::string result = report;
  for (size_t segment = ends.size(); segment-- > 0;)
    if (!kernels[segment].empty())
      result.insert(ends[segment], formatMember(std::move(kernels[segment])));
  return result;
}

static std::string joinNames(const json::Array *names, llvm::StringRef separator) {
  std::string text;
  for (size_t i = 0; names && i < names->size(); ++i)
    text += (i ? separator : "").str() + (*names)[i].getAsString().value_or("?").str();
  return text;
}

/// "convolution+bias+relu (conv1, bn1, act1)".
static std::string formatKernel(const json::Object &kernel) {
  std::string text = kernel.getString("kind").value_or("?").str();
  if (kernel.getBoolean("bias").value_or(false))
    text += "+bias";
  if (const json::Array *postOps = kernel.getArray("post_ops"))
    text += "+" + joinNames(postOps, "+");
  std::string ops = joinNames(kernel.getArray("ops"), ", ");
  return ops.empty() ? text : text + " (" + ops + ")";
}

static std::string countOf(size_t number, const std::string &noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string inlay::formatKernels(const std::string &report) {
  constexpr size_t kMost = 32;
  StatusOr<json::Object> root = parseReport(report);
  std::string text;
  if (!root.isOk())
    return text;
  for (auto [number, segment] : llvm::enumerate(*root->getArray("segments"))) {
    const json::Object *keys = segment.getAsObject();
    const json::Array *kernels = keys ? keys->getArray("kernels") : nullptr;
    if (!kernels)
      continue;
    const json::Array *ops = keys->getArray("ops");
    text += text.empty() ? "kernels:\n" : "";
    text += "  segment " + std::to_string(number) + " (" + keys->getString("target").value_or("?").str() +
            "): " + countOf(kernels->size(), "kernel") + " from " + countOf(ops ? ops->size() : 0, "op") + ": ";
    for (size_t i = 0; i < std::min(kMost, kernels->size()); ++i)
      if (const json::Object *kernel = (*kernels)[i].getAsObject())
        text += (i ? "; " : "") + formatKernel(*kernel);
    if (kernels->size() > kMost)
      text += "; and " + std::to_string(kernels->size() - kMost) + " more";
    text += "\n";
  }
  return text;
}
