// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the kernels of each segment to a partition report, as JSON and text. MemoryReport.cpp adds the memory.

#include "ReportJson.h"
#include "inlay/Runtime/Report/ReportKeys.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

static Json describe(const HostKernel &kernel) {
  Json entry{{"kind", name(kernel.kind)}, {"ops", kernel.calls}};
  for (const PostOp &postOp : kernel.postOps)
    entry["post_ops"].push_back(name(postOp.kind));
  if (kernel.hasBias)
    entry["bias"] = true;
  return entry;
}

/// Appends the kernels of the engine or host function that a step calls. Appends nothing for other steps.
static void addKernels(const Plan &plan, const Step &step, Json &kernels) {
  if (step.kind == StepKind::LaunchEngine)
    for (const Dispatch &dispatch : plan.engines[step.callee].dispatches)
      kernels.push_back(Json{{"kind", "dispatch"}, {"ops", dispatch.calls}});
  if (step.kind == StepKind::CallHost)
    for (const HostKernel &kernel : plan.hostCode.functions[step.callee].kernels)
      kernels.push_back(describe(kernel));
}

std::string addKernels(const std::string &report, const Plan &plan) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return report;
  Json &segments = (*root)["segments"];
  std::vector<Json> kernels(segments.size(), Json::array());
  for (const Step &step : plan.steps)
    if (step.segment >= 0 && static_cast<size_t>(step.segment) < kernels.size())
      addKernels(plan, step, kernels[step.segment]);
  for (size_t segment = 0; segment < kernels.size(); ++segment)
    if (!kernels[segment].empty() && segments[segment].is_object())
      segments[segment]["kernels"] = std::move(kernels[segment]);
  return formatReport(*root);
}

/// Returns a kernel as text: "convolution+bias+relu (conv1, bn1, act1)".
static std::string formatKernel(const Json &kernel) {
  std::string text = textOf(&kernel, "kind");
  if (const Json *bias = findMember(&kernel, "bias"); bias && bias->is_boolean() && bias->get<bool>())
    text += "+bias";
  if (const Json *postOps = findArray(&kernel, "post_ops"))
    text += "+" + joinNames(postOps, "+");
  std::string ops = joinNames(findArray(&kernel, "ops"), ", ");
  return ops.empty() ? text : text + " (" + ops + ")";
}

static std::string countOf(size_t number, const char *noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// Calls `visit(number, segment, kernels)` for each segment that has kernels.
template <typename Visit>
static void forEachWithKernels(const std::string &report, Visit visit) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return;
  const Json &segments = *findArray(&*root, "segments");
  for (size_t number = 0; number < segments.size(); ++number)
    if (const Json *kernels = findArray(&segments[number], "kernels"))
      visit(number, segments[number], *kernels);
}

std::string formatKernels(const std::string &report) {
  constexpr size_t kMaxListed = 32;
  std::string text;
  forEachWithKernels(report, [&](size_t number, const Json &segment, const Json &kernels) {
    const Json *ops = findArray(&segment, "ops");
    text += text.empty() ? "kernels:\n" : "";
    text += fmt::format("  segment {} ({}): {} from {}: ", number, textOf(&segment, "target"),
                        countOf(kernels.size(), "kernel"), countOf(ops ? ops->size() : 0, "op"));
    for (size_t i = 0; i < std::min(kMaxListed, kernels.size()); ++i)
      if (kernels[i].is_object())
        text += (i ? "; " : "") + formatKernel(kernels[i]);
    if (kernels.size() > kMaxListed)
      text += fmt::format("; and {} more", kernels.size() - kMaxListed);
    text += "\n";
  });
  return text;
}

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return escaped;
}

std::string insertKernels(const std::string &page, const std::string &report) {
  std::string rows;
  forEachWithKernels(report, [&](size_t number, const Json &segment, const Json &kernels) {
    for (const Json &kernel : kernels)
      if (kernel.is_object())
        rows += fmt::format("<tr><td class=\"n\">{}</td><td>{}</td><td class=\"mono\">{}</td></tr>\n", number,
                            escape(textOf(&segment, "target")), escape(formatKernel(kernel)));
  });
  size_t end = page.rfind("<script>");
  if (rows.empty() || end == std::string::npos)
    return page;
  std::string section =
      "<section>\n<h2>Kernels</h2>\n<div class=\"scroll\"><table><thead><tr><th class=\"n\">segment</th>"
      "<th>target</th><th>made of</th></tr></thead><tbody>\n" +
      rows + "</tbody></table></div>\n</section>\n";
  return page.substr(0, end) + section + page.substr(end);
}

} // namespace inlay::rt
