// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures and texts that several report formats share.

#include "ReportWriters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

std::string inlay::formatBytes(std::optional<int64_t> bytes, StringRef byDims) {
  if (!bytes && !byDims.empty())
    return (byDims + " B").str();
  if (!bytes)
    return "?";
  if (*bytes < 10'240)
    return std::to_string(*bytes) + " B";
  bool isKibi = *bytes < 10'485'760;
  double count = static_cast<double>(*bytes) / (isKibi ? 1024 : 1'048'576);
  return (count < 100 ? llvm::formatv("{0:f1}", count) : llvm::formatv("{0:f0}", count)).str() +
         (isKibi ? " KiB" : " MiB");
}

std::string inlay::countOf(size_t count, StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

std::string inlay::listSome(ArrayRef<std::string> names, size_t limit) {
  std::string result = llvm::join(names.take_front(limit), " ");
  if (names.size() > limit)
    result += " ... (" + std::to_string(names.size() - limit) + " more)";
  return result;
}

ReportCounts::ReportCounts(const Report &report) {
  for (const SegmentedBlock &segment : report.segments) {
    ++segmentsPerTarget[segment.target];
    segmentsAtTop += segment.parent.empty();
    acceleratedSegments += segment.isAccelerated;
    acceleratedOps += segment.isAccelerated ? static_cast<int64_t>(segment.ops.size()) : 0;
  }
  for (const ReportedOp &op : report.ops) {
    ++opsPerTarget[op.target];
    ++reasons[op.code];
  }
}

std::pair<int64_t, bool> inlay::countBorderBytes(const Report &report) {
  int64_t bytes = 0;
  bool allKnown = true;
  for (const SegmentedBlock &segment : report.segments) {
    if (!segment.isAccelerated)
      continue;
    allKnown &= segment.bytesIn && segment.bytesOut;
    for (std::optional<int64_t> side : {segment.bytesIn, segment.bytesOut})
      if (llvm::AddOverflow(bytes, side.value_or(0), bytes))
        return {std::numeric_limits<int64_t>::max(), false};
  }
  return {bytes, allKnown};
}

std::map<std::string, std::vector<std::string>> inlay::groupReasons(const Report &report) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const ReportedOp &op : report.ops)
    if (op.code != "supported")
      groups[op.code + ": " + op.name + ": " + op.text].push_back(op.causedBy.empty() ? op.label
                                                                                      : op.label + "<-" + op.causedBy);
  return groups;
}

llvm::StringMap<StringRef> inlay::findTargets(const Report &report) {
  llvm::StringMap<StringRef> targets;
  for (const ReportedOp &op : report.ops)
    targets[op.label] = op.target;
  return targets;
}

size_t inlay::countChanges(const Report &report) {
  if (report.witness.empty())
    return 0;
  llvm::StringMap<StringRef> targets = findTargets(report);
  size_t changes = 0;
  for (size_t at = 1; at < report.witness.size(); ++at)
    changes += targets.lookup(report.witness[at]) != targets.lookup(report.witness[at - 1]);
  return changes;
}
