// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Report.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace inlay;

static std::string formatBytes(std::optional<int64_t> bytes) {
  if (!bytes)
    return "?";
  if (*bytes < 10'240)
    return std::to_string(*bytes) + " B";
  if (*bytes < 10'485'760)
    return llvm::formatv("{0:f1} KiB", static_cast<double>(*bytes) / 1024);
  return llvm::formatv("{0:f1} MiB", static_cast<double>(*bytes) / 1'048'576);
}

/// At most `limit` of the names.
static std::string listSome(ArrayRef<std::string> names, size_t limit) {
  std::string result = llvm::join(names.take_front(limit), " ");
  if (names.size() > limit)
    result += " ... (" + std::to_string(names.size() - limit) + " more)";
  return result;
}

static void writeSegments(llvm::raw_ostream &os, const Report &report) {
  os << llvm::formatv("{0,4}  {1,-10} {2,5}  {3,10}  {4,10}  {5}\n", "#", "target", "ops", "in", "out", "holds");
  for (const SegmentedBlock &segment : report.segments) {
    os << llvm::formatv("{0,4}  {1,-10} {2,5}  {3,10}  {4,10}  {5}", segment.id, segment.target, segment.ops.size(),
                        formatBytes(segment.bytesIn), formatBytes(segment.bytesOut), listSome(segment.ops, 8));
    if (!segment.clones.empty())
      os << " + copies of " << listSome(segment.clones, 4);
    if (!segment.parent.empty())
      os << "  (in region " << segment.region << " of " << segment.parent << ")";
    if (segment.doNotMerge)
      os << "  (not merged)";
    os << "\n";
  }
}

static void writeTargets(llvm::raw_ostream &os, const Report &report) {
  llvm::MapVector<StringRef, std::pair<size_t, size_t>> targets; // ops, segments
  int64_t bytes = 0;
  bool allKnown = true;
  for (const SegmentedBlock &segment : report.segments) {
    targets[segment.target].first += segment.ops.size();
    ++targets[segment.target].second;
    if (!segment.isAccelerated)
      continue;
    allKnown &= segment.bytesIn && segment.bytesOut;
    bytes += segment.bytesIn.value_or(0) + segment.bytesOut.value_or(0);
  }
  for (auto &[target, counts] : targets)
    os << target << ": " << counts.first << " ops in " << counts.second << " segments\n";
  os << "across accelerator borders: " << (allKnown ? "" : "at least ") << formatBytes(bytes) << "\n";
}

static void writeReasons(llvm::raw_ostream &os, const Report &report) {
  // By code, text and op name; the labels of each.
  std::map<std::string, std::vector<std::string>> groups;
  for (const ReportedOp &op : report.ops)
    if (op.code != "supported")
      groups[op.code + ": " + op.name + ": " + op.text].push_back(op.causedBy.empty() ? op.label
                                                                                      : op.label + "<-" + op.causedBy);
  if (groups.empty())
    return;
  os << "fallback:\n";
  for (auto &[reason, labels] : groups)
    os << llvm::formatv("{0,6}x {1} [{2}]\n", labels.size(), reason, listSome(labels, 8));
}

/// How many segments there must be, against how many there are, and a path on which targets change that often.
static void writeProof(llvm::raw_ostream &os, const Report &report) {
  std::map<std::string, std::string> targets;
  for (const ReportedOp &op : report.ops)
    targets[op.label] = op.target;
  size_t changes = 0;
  int64_t segments = 0;
  for (size_t at = 1; at < report.witness.size(); ++at)
    changes += targets[report.witness[at]] != targets[report.witness[at - 1]];
  for (const SegmentedBlock &segment : report.segments)
    segments += segment.parent.empty();
  if (report.lowerBound)
    os << "lower bound: " << *report.lowerBound << (*report.lowerBound == 1 ? " segment" : " segments")
       << (*report.lowerBound == segments ? ", so no fewer are possible" : "") << "\n";
  if (changes > 0)
    os << "the target changes " << changes << (changes == 1 ? " time" : " times") << " along "
       << listSome(report.witness, 24) << "\n";
}

std::string inlay::getReportText(FunctionOpInterface function) {
  Report report = makeReport(function);
  std::string result;
  llvm::raw_string_ostream os(result);
  os << "@" << report.function << ": " << report.ops.size() << " ops in " << report.segments.size() << " segments\n";
  writeSegments(os, report);
  writeTargets(os, report);
  if (report.bytesCarried && report.bytesCarriedBefore)
    os << "carried from segment to segment: " << formatBytes(report.bytesCarried)
       << " (before ops were moved for that: " << formatBytes(report.bytesCarriedBefore) << ")\n";
  writeReasons(os, report);
  writeProof(os, report);
  return result;
}

std::string inlay::getReportText(ModuleOp module) {
  std::string result;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal())
      result += (result.empty() ? "" : "\n") + getReportText(function);
  return result;
}
