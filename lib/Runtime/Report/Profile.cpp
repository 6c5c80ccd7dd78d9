// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums the events of recorded calls by segment and kernel, and adds the times to a report. ProfileText.cpp formats
// them, and Core/Trace records them.

#include "inlay/Runtime/Report/Profile.h"
#include "ReportJson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

namespace inlay::rt {

StatusOr<std::vector<StepProfile>> profile(Program &program, const std::vector<TensorView> &inputs,
                                           const std::vector<TensorView> &outputs, unsigned runs, Trace *trace,
                                           Session *session) {
  INLAY_RETURN_IF_ERROR(program.call(inputs, outputs, session));
  std::vector<StepProfile> result;
  std::vector<std::vector<uint64_t>> times;
  for (unsigned run = 0; run < runs; ++run) {
    StatusOr<std::vector<StepProfile>> steps = program.profile(inputs, outputs, nullptr, session);
    if (!steps.isOk())
      return steps.status();
    result = std::move(*steps);
    times.resize(result.size());
    for (size_t step = 0; step < result.size(); ++step)
      times[step].push_back(result[step].nanoseconds);
  }
  if (trace) {    // in separate runs, because timing the kernels of a device slows steps down
    Trace warmUp; // commands with timestamps are recorded in this run
    for (Trace *into : {&warmUp, trace}) {
      StatusOr<std::vector<StepProfile>> steps = program.profile(inputs, outputs, into, session);
      if (!steps.isOk())
        return steps.status();
      result = std::move(*steps);
    }
  }
  for (size_t step = 0; step < result.size(); ++step) {
    std::nth_element(times[step].begin(), times[step].begin() + runs / 2, times[step].end());
    result[step].nanoseconds = times[step][runs / 2];
  }
  return result;
}

std::vector<MeasuredTime> sumBySegment(const std::vector<StepProfile> &steps) {
  std::vector<MeasuredTime> result;
  for (const StepProfile &step : steps) {
    if (step.segment < 0)
      continue;
    result.resize(std::max(result.size(), static_cast<size_t>(step.segment) + 1));
    MeasuredTime &time = result[step.segment];
    (step.kind == StepKind::Copy ? time.transfers : time.run) += static_cast<double>(step.nanoseconds) * 1e-9;
  }
  return result;
}

static int64_t toNanoseconds(double seconds) { return static_cast<int64_t>(seconds * 1e9 + 0.5); }

/// Returns the segment that a step belongs to; null if there is none.
static Json *findSegment(Json &segments, const StepProfile &step) {
  bool isThere = step.segment >= 0 && static_cast<size_t>(step.segment) < segments.size();
  return isThere && segments[step.segment].is_object() ? &segments[step.segment] : nullptr;
}

/// Adds `calls` to each segment that came from recorded calls.
static void addCalls(Json &segments, const std::vector<StepProfile> &steps) {
  for (const StepProfile &step : steps)
    if (Json *segment = findSegment(segments, step); segment && !step.calls.empty() && step.kind != StepKind::Copy)
      (*segment)["calls"] = step.calls;
}

/// Sorts kernels by time, longest first. Drops empty entries.
static Json sortKernels(std::vector<Json> entries) {
  entries.erase(std::remove_if(entries.begin(), entries.end(), [](const Json &entry) { return entry.empty(); }),
                entries.end());
  std::stable_sort(entries.begin(), entries.end(), [](const Json &a, const Json &b) {
    return numberOf(&a, "measured_ns") > numberOf(&b, "measured_ns");
  });
  return entries;
}

/// Adds times to the `kernels` of each segment.
static void addKernels(Json &segments, const std::vector<StepProfile> &steps) {
  std::vector<std::vector<Json>> known(segments.size()); // kernels without times yet
  for (size_t segment = 0; segment < segments.size(); ++segment)
    if (const Json *kernels = findArray(&segments[segment], "kernels"))
      for (const Json &kernel : *kernels)
        known[segment].push_back(kernel.is_object() ? kernel : Json::object());
  std::vector<size_t> first(segments.size()); // index of the next step's first kernel
  for (const StepProfile &step : steps) {
    if (step.kernels.empty() || !findSegment(segments, step))
      continue;
    std::vector<Json> &entries = known[step.segment];
    size_t &start = first[step.segment];
    for (const KernelProfile &kernel : step.kernels) {
      entries.resize(std::max(entries.size(), start + kernel.number + 1), Json::object());
      Json &entry = entries[start + kernel.number];
      entry["name"] = fmt::format("{}", fmt::join(kernel.calls, ", "));
      entry["kind"] = kernel.kind;
      entry["runs"] = kernel.runs;
      entry["measured_ns"] = kernel.nanoseconds;
    }
    start += step.kernels.back().number + 1;
  }
  for (size_t segment = 0; segment < segments.size(); ++segment)
    if (Json kernels = sortKernels(std::move(known[segment])); !kernels.empty() && segments[segment].is_object())
      segments[segment]["kernels"] = std::move(kernels);
}

std::vector<OpTime> sumByOp(const std::vector<StepProfile> &steps) {
  std::vector<OpTime> result;
  std::unordered_map<std::string, size_t> rows;
  auto add = [&](std::vector<std::string> ops, uint64_t nanoseconds, uint64_t runs) {
    auto [row, isNew] = rows.try_emplace(fmt::format("{}", fmt::join(ops, "\n")), result.size());
    if (isNew)
      result.push_back({std::move(ops), 0, 0});
    result[row->second].seconds += static_cast<double>(nanoseconds) * 1e-9;
    result[row->second].runs += runs;
  };
  for (const StepProfile &step : steps) {
    if (step.runs == 0 || !step.nanoseconds)
      continue;
    if (step.kind == StepKind::Copy) {
      add({"(copies)"}, step.nanoseconds, step.runs);
      continue;
    }
    if (step.kernels.empty()) {
      add(step.calls.empty() ? std::vector<std::string>{step.name} : step.calls, step.nanoseconds, step.runs);
      continue;
    }
    uint64_t rest = step.nanoseconds;
    for (const KernelProfile &kernel : step.kernels) {
      add(kernel.calls.empty() ? step.calls : kernel.calls, kernel.nanoseconds, kernel.runs);
      rest -= std::min(rest, kernel.nanoseconds);
    }
    if (rest > 0)
      add({"(between kernels)"}, rest, step.runs);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const OpTime &a, const OpTime &b) { return a.seconds > b.seconds; });
  return result;
}

StatusOr<std::string> addMeasuredTimes(const std::string &report, const std::vector<StepProfile> &steps) {
  StatusOr<Json> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  Json &segments = (*root)["segments"];
  std::vector<MeasuredTime> times = sumBySegment(steps);
  times.resize(std::max(times.size(), segments.size()));
  for (size_t number = 0; number < segments.size(); ++number)
    if (segments[number].is_object())
      segments[number]["measured_ns"] = Json{{"run", toNanoseconds(times[number].run)},
                                             {"transfers", toNanoseconds(times[number].transfers)},
                                             {"total", toNanoseconds(times[number].run + times[number].transfers)}};
  addCalls(segments, steps);
  addKernels(segments, steps);
  Json ops = Json::array();
  for (const OpTime &op : sumByOp(steps))
    ops.push_back(Json{{"ops", op.ops}, {"runs", op.runs}, {"measured_ns", toNanoseconds(op.seconds)}});
  (*root)["measured_ops"] = std::move(ops);
  double total = 0;
  for (const StepProfile &step : steps)
    total += static_cast<double>(step.nanoseconds) * 1e-9;
  (*root)["summary"]["measured_ns"] = toNanoseconds(total);
  return formatReport(*root);
}

} // namespace inlay::rt
