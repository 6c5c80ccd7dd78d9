// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measured times for people.

#include "ReportObject.h"
#include "inlay/Execution/Profile.h"
#include "inlay/Support/TargetCosts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace inlay;
using rt::StatusOr;
namespace json = llvm::json;

/// The sum of some keys of a segment's times, or `-` without them.
static std::string formatTimes(const json::Object *times, llvm::ArrayRef<llvm::StringRef> keys) {
  double sum = 0;
  for (llvm::StringRef key : keys)
    sum += times ? times->getNumber(key).value_or(0) : 0;
  return times ? formatSeconds(sum * 1e-9) : "-";
}

/// The first of some names.
static std::string formatOrigin(const json::Array *names) {
  constexpr size_t kMost = 4;
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

/// Where the time went by the user's ops, the largest part first.
static void formatOps(llvm::raw_ostream &os, const json::Array &ops) {
  constexpr size_t kMost = 24;
  constexpr const char *kRow = "  {0,10}  {1,5}  {2,4}  {3}\n";
  double total = 0;
  for (const json::Value &op : ops)
    total += op.getAsObject() ? op.getAsObject()->getNumber("measured_ns").value_or(0) : 0;
  os << "by op\n" << llvm::formatv(kRow, "measured", "share", "runs", "of");
  for (size_t i = 0; i < std::min(kMost, ops.size()); ++i)
    if (const json::Object *op = ops[i].getAsObject()) {
      double time = op->getNumber("measured_ns").value_or(0);
      os << llvm::formatv(kRow, formatSeconds(time * 1e-9),
                          llvm::formatv("{0:f0} %", total > 0 ? 100 * time / total : 0).str(),
                          op->getInteger("runs").value_or(0), formatOrigin(op->getArray("ops")));
    }
  if (ops.size() > kMost)
    os << "  and " << ops.size() - kMost << " more\n";
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
                        formatOrigin(keys->getArray("calls") ? keys->getArray("calls") : ops));
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
  if (const json::Array *ops = root->getArray("measured_ops"))
    formatOps(os, *ops);
  return text;
}
