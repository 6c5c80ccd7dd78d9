// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measured times as text for users.

#include "ReportJson.h"
#include "inlay/Runtime/Report/Profile.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

/// Returns the sum of some keys of a segment's times, or `-` without times.
static std::string formatTimes(const Json *times, std::initializer_list<const char *> keys) {
  double sum = 0;
  for (const char *key : keys)
    sum += numberOf(times, key);
  return times ? formatNanoseconds(sum) : "-";
}

/// Returns the first few names.
static std::string formatOrigin(const Json *names) {
  constexpr size_t kMaxNames = 4;
  std::string text = joinNames(names, ", ", kMaxNames);
  if (names && names->size() > kMaxNames)
    text += fmt::format(" and {} more", names->size() - kMaxNames);
  return text;
}

static auto countRuns(const Json &entry) { return static_cast<int64_t>(numberOf(&entry, "runs")); }

/// Returns the kernels of a segment that took longest.
static std::string formatKernels(size_t segment, const Json &kernels) {
  constexpr size_t kMaxKernels = 16;
  constexpr const char *kRow = "  {:<17}  {:>4}  {:>10}  {}\n";
  std::string text = fmt::format("kernels of segment {}\n", segment);
  text += fmt::format(kRow, "kind", "runs", "measured", "of");
  for (size_t i = 0; i < std::min(kMaxKernels, kernels.size()); ++i)
    text += fmt::format(kRow, textOf(&kernels[i], "kind"), countRuns(kernels[i]),
                        formatNanoseconds(numberOf(&kernels[i], "measured_ns")), textOf(&kernels[i], "name", ""));
  if (kernels.size() > kMaxKernels)
    text += fmt::format("  and {} more\n", kernels.size() - kMaxKernels);
  return text;
}

/// Returns the times by the user's ops, largest first.
static std::string formatOps(const Json &ops) {
  constexpr size_t kMaxOps = 24;
  constexpr const char *kRow = "  {:>10}  {:>5}  {:>4}  {}\n";
  double total = 0;
  for (const Json &op : ops)
    total += numberOf(&op, "measured_ns");
  std::string text = "by op\n" + fmt::format(kRow, "measured", "share", "runs", "of");
  for (size_t i = 0; i < std::min(kMaxOps, ops.size()); ++i) {
    double time = numberOf(&ops[i], "measured_ns");
    text += fmt::format(kRow, formatNanoseconds(time), fmt::format("{:.0f} %", total > 0 ? 100 * time / total : 0),
                        countRuns(ops[i]), formatOrigin(findArray(&ops[i], "ops")));
  }
  if (ops.size() > kMaxOps)
    text += fmt::format("  and {} more\n", ops.size() - kMaxOps);
  return text;
}

static std::string formatSegment(size_t number, const Json &segment) {
  constexpr const char *kRow = "{:>8}  {:<8}  {:>5}  {:>10}  {:>10}  {:>10}  {:>10}  {}\n";
  const Json *modeled = findObject(&segment, "modelled_ns"), *measured = findObject(&segment, "measured_ns");
  const Json *ops = findArray(&segment, "ops"), *calls = findArray(&segment, "calls");
  return fmt::format(kRow, number, textOf(&segment, "target"), ops ? ops->size() : 0,
                     formatTimes(modeled, {"compute", "launch"}), formatTimes(measured, {"run"}),
                     formatTimes(modeled, {"transfer_in", "transfer_out"}), formatTimes(measured, {"transfers"}),
                     formatOrigin(calls ? calls : ops));
}

StatusOr<std::string> formatMeasuredTimes(const std::string &report) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  const Json &segments = *findArray(&*root, "segments");
  std::string text = " segment  target      ops     modeled    measured   transfers    measured  of\n";
  for (size_t number = 0; number < segments.size(); ++number)
    if (segments[number].is_object())
      text += formatSegment(number, segments[number]);
  const Json *summary = findObject(&*root, "summary");
  text += "all segments: ";
  if (double modeled = numberOf(summary, "modelled_ns", -1); modeled >= 0)
    text += "modeled " + formatNanoseconds(modeled) + ", ";
  text += "measured " + formatNanoseconds(numberOf(summary, "measured_ns")) + "\n";
  for (size_t number = 0; number < segments.size(); ++number)
    if (const Json *kernels = findArray(&segments[number], "kernels"))
      text += formatKernels(number, *kernels);
  if (const Json *ops = findArray(&*root, "measured_ops"))
    text += formatOps(*ops);
  return text;
}

} // namespace inlay::rt
