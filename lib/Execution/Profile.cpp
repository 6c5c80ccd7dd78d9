// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/Profile.h"
#include "ReportObject.h"
#include "inlay/Runtime/Core/Trace.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

StatusOr<std::vector<rt::StepProfile>> inlay::profile(rt::Program &program, const std::vector<rt::TensorView> &inputs,
                                                      const std::vector<rt::TensorView> &outputs, unsigned runs,
                                                      rt::Trace *trace) {
  INLAY_RETURN_IF_ERROR(program.call(inputs, outputs));
  std::vector<rt::StepProfile> result;
  std::vector<std::vector<uint64_t>> times;
  for (unsigned run = 0; run < runs; ++run) {
    StatusOr<std::vector<rt::StepProfile>> steps = program.profile(inputs, outputs);
    if (!steps.isOk())
      return steps.status();
    result = std::move(*steps);
    times.resize(result.size());
    for (size_t step = 0; step < result.size(); ++step)
      times[step].push_back(result[step].nanoseconds);
  }
  if (trace) {        // apart: what times the kernels of a device slows steps down
    rt::Trace warmUp; // commands for it are recorded here
    for (rt::Trace *into : {&warmUp, trace}) {
      StatusOr<std::vector<rt::StepProfile>> steps = program.profile(inputs, outputs, into);
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

std::vector<MeasuredTime> inlay::sumBySegment(const std::vector<rt::StepProfile> &steps) {
  std::vector<MeasuredTime> result;
  for (const rt::StepProfile &step : steps) {
    if (step.segment < 0)
      continue;
    result.resize(std::max(result.size(), static_cast<size_t>(step.segment) + 1));
    MeasuredTime &time = result[step.segment];
    (step.kind == rt::StepKind::Copy ? time.transfers : time.run) += static_cast<double>(step.nanoseconds) * 1e-9;
  }
  return result;
}

static int64_t toNanoseconds(double seconds) { return static_cast<int64_t>(seconds * 1e9 + 0.5); }

/// `calls` in each segment that came from recorded ones.
static void addCalls(json::Array &segments, const std::vector<rt::StepProfile> &steps) {
  for (const rt::StepProfile &step : steps) {
    if (step.calls.empty() || step.kind == rt::StepKind::Copy || step.segment < 0 ||
        static_cast<size_t>(step.segment) >= segments.size())
      continue;
    if (json::Object *keys = segments[step.segment].getAsObject())
      (*keys)["calls"] = json::Array(step.calls);
  }
}

/// Adds times to the `kernels` of each segment, and puts those that took longest first.
static void addKernels(json::Array &segments, const std::vector<rt::StepProfile> &steps) {
  std::vector<std::vector<json::Object>> known(segments.size()); // those not yet timed
  for (auto [segment, entries] : llvm::zip_equal(segments, known))
    if (json::Object *keys = segment.getAsObject())
      if (const json::Array *kernels = keys->getArray("kernels"))
        for (const json::Value &kernel : *kernels)
          entries.push_back(kernel.getAsObject() ? *kernel.getAsObject() : json::Object());
  std::vector<size_t> first(segments.size()); // of the next step's kernels
  for (const rt::StepProfile &step : steps) {
    if (step.kernels.empty() || step.segment < 0 || static_cast<size_t>(step.segment) >= segments.size())
      continue;
    std::vector<json::Object> &entries = known[step.segment];
    size_t &start = first[step.segment];
    for (const rt::KernelProfile &kernel : step.kernels) {
      entries.resize(std::max(entries.size(), start + kernel.number + 1));
      json::Object &entry = entries[start + kernel.number];
      entry["name"] = llvm::join(kernel.calls, ", ");
      entry["kind"] = kernel.kind;
      entry["runs"] = static_cast<int64_t>(kernel.runs);
      entry["measured_ns"] = static_cast<int64_t>(kernel.nanoseconds);
    }
    start += step.kernels.back().number + 1;
  }
  for (auto [segment, entries] : llvm::zip_equal(segments, known)) {
    llvm::erase_if(entries, [](const json::Object &entry) { return entry.empty(); });
    llvm::stable_sort(entries, [](const json::Object &a, const json::Object &b) {
      return a.getInteger("measured_ns").value_or(0) > b.getInteger("measured_ns").value_or(0);
    });
    json::Array kernels;
    for (json::Object &entry : entries)
      kernels.push_back(std::move(entry));
    if (json::Object *keys = segment.getAsObject(); keys && !kernels.empty())
      (*keys)["kernels"] = std::move(kernels);
  }
}

std::vector<OpTime> inlay::sumByOp(const std::vector<rt::StepProfile> &steps) {
  std::vector<OpTime> result;
  llvm::StringMap<size_t> rows;
  auto add = [&](std::vector<std::string> ops, uint64_t nanoseconds, uint64_t runs) {
    auto [row, isNew] = rows.try_emplace(llvm::join(ops, "\n"), result.size());
    if (isNew)
      result.push_back({std::move(ops), 0, 0});
    result[row->second].seconds += static_cast<double>(nanoseconds) * 1e-9;
    result[row->second].runs += runs;
  };
  for (const rt::StepProfile &step : steps) {
    if (step.runs == 0 || !step.nanoseconds)
      continue;
    if (step.kind == rt::StepKind::Copy) {
      add({"(copies)"}, step.nanoseconds, step.runs);
      continue;
    }
    if (step.kernels.empty()) {
      add(step.calls.empty() ? std::vector<std::string>{step.name} : step.calls, step.nanoseconds, step.runs);
      continue;
    }
    uint64_t rest = step.nanoseconds;
    for (const rt::KernelProfile &kernel : step.kernels) {
      add(kernel.calls.empty() ? step.calls : kernel.calls, kernel.nanoseconds, kernel.runs);
      rest -= std::min(rest, kernel.nanoseconds);
    }
    if (rest > 0)
      add({"(between kernels)"}, rest, step.runs);
  }
  llvm::stable_sort(result, [](const OpTime &a, const OpTime &b) { return a.seconds > b.seconds; });
  return result;
}

StatusOr<std::string> inlay::addMeasuredTimes(const std::string &report, const std::vector<rt::StepProfile> &steps) {
  StatusOr<json::Object> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  std::vector<MeasuredTime> times = sumBySegment(steps);
  times.resize(std::max(times.size(), root->getArray("segments")->size()));
  for (auto [number, segment] : llvm::enumerate(*root->getArray("segments")))
    if (json::Object *keys = segment.getAsObject())
      (*keys)["measured_ns"] = json::Object{{"run", toNanoseconds(times[number].run)},
                                            {"transfers", toNanoseconds(times[number].transfers)},
                                            {"total", toNanoseconds(times[number].run + times[number].transfers)}};
  double total = 0;
  addCalls(*root->getArray("segments"), steps);
  addKernels(*root->getArray("segments"), steps);
  json::Array ops;
  for (const OpTime &op : sumByOp(steps))
    ops.push_back(json::Object{{"ops", json::Array(op.ops)},
                               {"runs", static_cast<int64_t>(op.runs)},
                               {"measured_ns", toNanoseconds(op.seconds)}});
  (*root)["measured_ops"] = std::move(ops);
  for (const rt::StepProfile &step : steps)
    total += static_cast<double>(step.nanoseconds) * 1e-9;
  (*root->getObject("summary"))["measured_ns"] = toNanoseconds(total);
  return formatReport(std::move(*root));
}
