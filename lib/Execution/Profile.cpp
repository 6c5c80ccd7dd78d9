// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/Profile.h"
#include "inlay/Support/TargetCosts.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace json = llvm::json;

StatusOr<std::vector<rt::StepProfile>> inlay::profile(rt::Program &program, const std::vector<rt::TensorView> &inputs,
                                                      const std::vector<rt::TensorView> &outputs, unsigned runs) {
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

static Status notAReport(llvm::Twine what) {
  return {StatusCode::InvalidArgument, ("expected a partition report of one function, but " + what).str()};
}

static StatusOr<json::Object> parseReport(const std::string &report) {
  llvm::Expected<json::Value> value = json::parse(report);
  if (!value)
    return notAReport(llvm::toString(value.takeError()));
  if (!value->getAsObject() || !value->getAsObject()->getArray("segments") ||
      !value->getAsObject()->getObject("summary"))
    return notAReport("it has no segments or no summary");
  return std::move(*value->getAsObject());
}

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

/// `kernels` in each segment whose code tells them apart, those that took longest first.
static void addKernels(json::Array &segments, const std::vector<rt::StepProfile> &steps) {
  for (const rt::StepProfile &step : steps) {
    if (step.kernels.empty() || step.segment < 0 || static_cast<size_t>(step.segment) >= segments.size())
      continue;
    std::vector<rt::KernelProfile> sorted = step.kernels;
    llvm::stable_sort(sorted, [](auto &a, auto &b) { return a.nanoseconds > b.nanoseconds; });
    json::Array kernels;
    for (const rt::KernelProfile &kernel : sorted)
      kernels.push_back(json::Object{{"name", kernel.name},
                                     {"kind", rt::name(kernel.kind)},
                                     {"runs", static_cast<int64_t>(kernel.runs)},
                                     {"measured_ns", static_cast<int64_t>(kernel.nanoseconds)}});
    if (json::Object *keys = segments[step.segment].getAsObject())
      (*keys)["kernels"] = std::move(kernels);
  }
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
  for (const rt::StepProfile &step : steps)
    total += static_cast<double>(step.nanoseconds) * 1e-9;
  (*root->getObject("summary"))["measured_ns"] = toNanoseconds(total);
  return llvm::formatv("{0:2}\n", json::Value(std::move(*root))).str();
}

/// The sum of some keys of a segment's times, or `-` without them.
static std::string formatTimes(const json::Object *times, llvm::ArrayRef<llvm::StringRef> keys) {
  double sum = 0;
  for (llvm::StringRef key : keys)
    sum += times ? times->getNumber(key).value_or(0) : 0;
  return times ? formatSeconds(sum * 1e-9) : "-";
}

/// The first of the calls that a segment came from, or of its ops if none was recorded.
static std::string formatOrigin(const json::Object &segment) {
  constexpr size_t kMost = 4;
  const json::Array *names = segment.getArray("calls");
  if (!names)
    names = segment.getArray("ops");
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator comma;
  for (size_t i = 0; names && i < std::min(kMost, names->size()); ++i)
    os << comma << (*names)[i].getAsString().value_or("?");
  if (names && names->size() > kMost)
    os << " and " << names->size() - kMost << " more";
  return text;
}

/// The kernels of a segment that took longest.
static void formatKernels(llvm::raw_ostream &os, int64_t segment, const json::Array &kernels) {
  constexpr size_t kMost = 16;
  constexpr const char *kRow = "  {0,-12}  {1,4}  {2,10}  {3}\n";
  os << "kernels of segment " << segment << "\n" << llvm::formatv(kRow, "kind", "runs", "measured", "of");
  for (size_t i = 0; i < std::min(kMost, kernels.size()); ++i)
    if (const json::Object *kernel = kernels[i].getAsObject())
      os << llvm::formatv(kRow, kernel->getString("kind").value_or("?"), kernel->getInteger("runs").value_or(0),
                          formatSeconds(kernel->getNumber("measured_ns").value_or(0) * 1e-9),
                          kernel->getString("name").value_or(""));
  if (kernels.size() > kMost)
    os << "  and " << kernels.size() - kMost << " more\n";
}

StatusOr<std::string> inlay::formatMeasuredTimes(const std::string &report) {
  StatusOr<json::Object> root = parseReport(report);
  if (!root.isOk())
    return root.status();
  constexpr const char *kRow = "{0,8}  {1,-8}  {2,5}  {3,10}  {4,10}  {5,10}  {6,10}  {7}\n";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv(kRow, "segment", "target", "ops", "modelled", "measured", "transfers", "measured", "of");
  for (auto [number, segment] : llvm::enumerate(*root->getArray("segments"))) {
    const json::Object *keys = segment.getAsObject();
    if (!keys)
      continue;
    const json::Object *modelled = keys->getObject("modelled_ns"), *measured = keys->getObject("measured_ns");
    const json::Array *ops = keys->getArray("ops");
    os << llvm::formatv(kRow, number, keys->getString("target").value_or("?"), ops ? ops->size() : 0,
                        formatTimes(modelled, {"compute", "launch"}), formatTimes(measured, {"run"}),
                        formatTimes(modelled, {"transfer_in", "transfer_out"}), formatTimes(measured, {"transfers"}),
                        formatOrigin(*keys));
  }
  const json::Object *summary = root->getObject("summary");
  os << "all segments: ";
  if (std::optional<double> modelled = summary->getNumber("modelled_ns"))
    os << "modelled " << formatSeconds(*modelled * 1e-9) << ", ";
  os << "measured " << formatSeconds(summary->getNumber("measured_ns").value_or(0) * 1e-9) << "\n";
  for (auto [number, segment] : llvm::enumerate(*root->getArray("segments")))
    if (const json::Object *keys = segment.getAsObject())
      if (const json::Array *kernels = keys->getArray("kernels"))
        formatKernels(os, number, *kernels);
  return text;
}
