// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table report: one row per segment, and the summary, which the text report ends with too.

#include "ReportWriters.h"
#include "inlay/Support/TargetCosts.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace inlay;

static void writeSegments(llvm::raw_ostream &os, const Report &report) {
  os << llvm::formatv("{0,4}  {1,-10} {2,5}  {3,10}  {4,10}  {5}\n", "#", "target", "ops", "in", "out", "holds");
  for (const SegmentedBlock &segment : report.segments) {
    os << llvm::formatv("{0,4}  {1,-10} {2,5}  {3,10}  {4,10}  {5}", segment.id, segment.target, segment.ops.size(),
                        formatBytes(segment.bytesIn, segment.bytesInByDims),
                        formatBytes(segment.bytesOut, segment.bytesOutByDims), listSome(segment.ops, 8));
    if (!segment.clones.empty())
      os << " + clones of " << listSome(segment.clones, 4);
    if (!segment.parent.empty())
      os << "  (in region " << segment.region << " of " << segment.parent << ")";
    if (segment.doNotMerge)
      os << "  (not merged)";
    os << "\n";
  }
}

static void writeTargets(llvm::raw_ostream &os, const Report &report) {
  llvm::MapVector<StringRef, std::pair<size_t, size_t>> targets; // Numbers of ops and segments.
  for (const SegmentedBlock &segment : report.segments) {
    targets[segment.target].first += segment.ops.size();
    ++targets[segment.target].second;
  }
  for (auto &[target, counts] : targets)
    os << target << ": " << countOf(counts.first, "op") << " in " << countOf(counts.second, "segment") << "\n";
  auto [bytes, allKnown] = countBorderBytes(report);
  os << "across accelerator borders: " << (allKnown ? "" : "at least ") << formatBytes(bytes) << "\n";
}

static void writeReasons(llvm::raw_ostream &os, const Report &report) {
  std::map<std::string, std::vector<std::string>> groups = groupReasons(report);
  if (groups.empty())
    return;
  os << "fallback:\n";
  for (auto &[reason, labels] : groups)
    os << llvm::formatv("{0,6}x {1} [{2}]\n", labels.size(), reason, listSome(labels, 8));
}

/// Writes the lower bound on the number of segments, and a path that proves it by its target changes.
static void writeProof(llvm::raw_ostream &os, const Report &report) {
  int64_t segments = ReportCounts(report).segmentsAtTop;
  if (report.lowerBound)
    os << "lower bound: " << *report.lowerBound << (*report.lowerBound == 1 ? " segment" : " segments")
       << (*report.lowerBound == segments ? ", so no fewer are possible" : "") << "\n";
  if (size_t changes = countChanges(report))
    os << "the target changes " << changes << (changes == 1 ? " time" : " times") << " along "
       << listSome(report.witness, 24) << "\n";
}

static void writeFigures(llvm::raw_ostream &os, const PartitionSummary &figures) {
  os << llvm::formatv("{0,8}  {1,11}  {2,8}  {3,12}", figures.segments, figures.acceleratedSegments,
                      figures.acceleratedOps, (figures.allKnown ? "" : ">= ") + formatBytes(figures.borderBytes));
  if (figures.seconds)
    os << llvm::formatv("  {0,10}", formatSeconds(*figures.seconds));
}

static void writeHeads(llvm::raw_ostream &os, const PartitionSummary &figures) {
  os << "segments  accelerated   its ops       borders" << (figures.seconds ? "     modeled" : "") << "\n";
}

static void writeWhatIf(llvm::raw_ostream &os, const WhatIf &whatIf) {
  os << "what if '" << whatIf.target << "' ran more:\n  ";
  writeHeads(os, whatIf.now);
  os << "  ";
  writeFigures(os, whatIf.now);
  os << "  current\n";
  auto writeRows = [&](StringRef title, ArrayRef<WhatIfRow> rows) {
    if (!rows.empty())
      os << " " << title << ":\n";
    for (const WhatIfRow &row : rows) {
      os << "  ";
      writeFigures(os, row.figures);
      os << "  " << row.ops << "x " << llvm::join(row.kinds, " + ") << "\n";
    }
  };
  writeRows("by itself", whatIf.kinds);
  writeRows("together, a further kind each time",
            ArrayRef(whatIf.together).drop_front(whatIf.together.empty() ? 0 : 1));
  writeRows("the best pairs of " + std::to_string(whatIf.pairsTried) + " tried", whatIf.pairs);
}

static void writeSweep(llvm::raw_ostream &os, ArrayRef<SweepRow> rows) {
  if (rows.empty())
    return;
  os << "min_block_size:\n    size  ";
  writeHeads(os, rows.front().figures);
  for (const SweepRow &row : rows) {
    os << llvm::formatv("{0,8}  ", row.minBlockSize);
    writeFigures(os, row.figures);
    os << "\n";
  }
}

void inlay::writeTitle(llvm::raw_ostream &os, const Report &report) {
  os << "@" << report.function << ": " << countOf(report.ops.size(), "op") << " in "
     << countOf(report.segments.size(), "segment") << "\n";
}

/// Writes the modeled time, and the times of the placements that it was compared with.
static void writeTimes(llvm::raw_ostream &os, const Report &report) {
  if (!report.modeled)
    return;
  os << "modeled time: " << formatSeconds(*report.modeled);
  for (auto [number, placement] : llvm::enumerate(report.placements))
    os << (number == 0 ? " (" : ", ") << placement.first << " " << formatSeconds(placement.second);
  os << (report.placements.empty() ? "\n" : ")\n");
}

/// Writes the bytes of the weights of each type: `weights: 15.0 KiB f32, 2048 B u4`.
static void writeWeights(llvm::raw_ostream &os, const Report &report) {
  for (auto [number, weight] : llvm::enumerate(report.weights))
    os << (number == 0 ? "weights: " : ", ") << formatBytes(weight.second) << " " << weight.first;
  os << (report.weights.empty() ? "" : "\n");
}

void inlay::writeSummary(llvm::raw_ostream &os, const Report &report) {
  writeTargets(os, report);
  writeWeights(os, report);
  if (report.bytesCarried && report.bytesCarriedBefore)
    os << "carried from segment to segment: " << formatBytes(report.bytesCarried)
       << " (before ops were moved for that: " << formatBytes(report.bytesCarriedBefore) << ")\n";
  writeTimes(os, report);
  writeReasons(os, report);
  writeProof(os, report);
  if (report.whatIf)
    writeWhatIf(os, *report.whatIf);
  writeSweep(os, report.sweep);
}

void inlay::writeTableReport(llvm::raw_ostream &os, ArrayRef<FunctionOpInterface> functions) {
  for (FunctionOpInterface function : functions) {
    Report report = makeReport(function);
    writeTitle(os, report);
    writeSegments(os, report);
    writeSummary(os, report);
    os << (function == functions.back() ? "" : "\n");
  }
}
