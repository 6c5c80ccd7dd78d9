// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the report as JSON. Runtime/Report/ReportJson.cpp reads that JSON again and adds keys to it.

#include "ReportWriters.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace inlay;
using llvm::json::OStream;

/// Returns a JSON string. Labels may contain any bytes, which JSON does not permit.
static llvm::json::Value text(StringRef value) {
  return llvm::json::isUTF8(value) ? llvm::json::Value(value) : llvm::json::fixUTF8(value);
}

static llvm::json::Value optionalNumber(std::optional<int64_t> number) {
  return number ? llvm::json::Value(*number) : llvm::json::Value(nullptr);
}

static void writeTexts(OStream &json, StringRef key, ArrayRef<std::string> values) {
  json.attributeArray(key, [&] {
    for (const std::string &value : values)
      json.value(text(value));
  });
}

static void writeValues(OStream &json, StringRef key, ArrayRef<BorderValue> values, bool isInput) {
  json.attributeArray(key, [&] {
    for (const BorderValue &value : values)
      json.object([&] {
        json.attribute("type", text(value.type));
        json.attribute("from", text(value.from));
        if (!value.dims.empty())
          writeTexts(json, "dims", value.dims);
        if (isInput)
          json.attribute("segment", value.segment ? llvm::json::Value(*value.segment) : llvm::json::Value(nullptr));
      });
  });
}

/// Rounds to nanoseconds, since a model is not more precise.
static int64_t toNanoseconds(double seconds) { return static_cast<int64_t>(std::min(seconds * 1e9 + 0.5, 9e18)); }

static void writeTime(OStream &json, const SegmentTime &time) {
  json.attributeObject("modelled_ns", [&] {
    json.attribute("compute", toNanoseconds(time.compute));
    json.attribute("launch", toNanoseconds(time.launch));
    json.attribute("transfer_in", toNanoseconds(time.transferIn));
    json.attribute("transfer_out", toNanoseconds(time.transferOut));
    json.attribute("total", toNanoseconds(time.total()));
  });
}

static void writeSegment(OStream &json, const SegmentedBlock &segment) {
  json.object([&] {
    json.attribute("id", segment.id);
    json.attribute("target", text(segment.target));
    if (segment.parent.empty())
      json.attribute("parent", nullptr);
    else
      json.attributeObject("parent", [&] {
        json.attribute("op", text(segment.parent));
        json.attribute("region", segment.region);
      });
    writeTexts(json, "ops", segment.ops);
    writeTexts(json, "clones", segment.clones);
    json.attribute("do_not_merge", segment.doNotMerge);
    writeValues(json, "inputs", segment.inputs, /*isInput=*/true);
    writeValues(json, "outputs", segment.outputs, /*isInput=*/false);
    json.attribute("bytes_in", optionalNumber(segment.bytesIn));
    json.attribute("bytes_out", optionalNumber(segment.bytesOut));
    if (!segment.bytesInByDims.empty())
      json.attribute("bytes_in_by_dims", text(segment.bytesInByDims));
    if (!segment.bytesOutByDims.empty())
      json.attribute("bytes_out_by_dims", text(segment.bytesOutByDims));
    if (segment.modeled)
      writeTime(json, *segment.modeled);
  });
}

static void writeOp(OStream &json, const ReportedOp &op) {
  json.object([&] {
    json.attribute("label", text(op.label));
    json.attribute("name", text(op.name));
    json.attribute("target", text(op.target));
    json.attribute("segment", op.segment);
    json.attributeObject("reason", [&] {
      json.attribute("code", text(op.code));
      json.attribute("text", text(op.text));
      json.attribute("caused_by", op.causedBy.empty() ? llvm::json::Value(nullptr) : text(op.causedBy));
    });
  });
}

static void writeCounts(OStream &json, StringRef key, const std::map<std::string, int64_t> &counts) {
  json.attributeObject(key, [&] {
    for (const auto &[name, count] : counts)
      json.attribute(llvm::json::fixUTF8(name), count);
  });
}

static void writeSummary(OStream &json, const Report &report) {
  ReportCounts counts(report);
  json.attributeObject("summary", [&] {
    json.attribute("ops", report.ops.size());
    json.attribute("accelerated_ops", counts.acceleratedOps);
    json.attribute("segments", report.segments.size());
    json.attribute("accelerated_segments", counts.acceleratedSegments);
    json.attribute("lower_bound", optionalNumber(report.lowerBound));
    json.attribute("bytes_carried", optionalNumber(report.bytesCarried));
    json.attribute("bytes_carried_before", optionalNumber(report.bytesCarriedBefore));
    if (!report.weights.empty())
      writeCounts(json, "weights", report.weights);
    if (report.modeled)
      json.attribute("modelled_ns", toNanoseconds(*report.modeled));
    if (!report.placements.empty())
      json.attributeObject("placements_ns", [&] {
        for (const auto &[name, seconds] : report.placements)
          json.attribute(llvm::json::fixUTF8(name), toNanoseconds(seconds));
      });
    writeCounts(json, "ops_per_target", counts.opsPerTarget);
    writeCounts(json, "segments_per_target", counts.segmentsPerTarget);
    writeCounts(json, "reasons", counts.reasons);
    writeTexts(json, "witness", report.witness);
  });
}

static void writeFigures(OStream &json, const PartitionSummary &figures) {
  json.attribute("segments", figures.segments);
  json.attribute("accelerated_segments", figures.acceleratedSegments);
  json.attribute("ops", figures.ops);
  json.attribute("accelerated_ops", figures.acceleratedOps);
  json.attribute("border_bytes", figures.allKnown ? llvm::json::Value(figures.borderBytes) : nullptr);
  if (figures.seconds)
    json.attribute("modelled_ns", toNanoseconds(*figures.seconds));
}

static void writeWhatIf(OStream &json, const WhatIf &whatIf) {
  auto writeRows = [&](StringRef key, ArrayRef<WhatIfRow> rows) {
    json.attributeArray(key, [&] {
      for (const WhatIfRow &row : rows)
        json.object([&] {
          writeTexts(json, "kinds", row.kinds);
          json.attribute("count", row.ops);
          writeFigures(json, row.figures);
          json.attribute("segments_saved", whatIf.now.segments - row.figures.segments);
          if (whatIf.now.seconds && row.figures.seconds)
            json.attribute("saved_ns", toNanoseconds(*whatIf.now.seconds) - toNanoseconds(*row.figures.seconds));
        });
    });
  };
  json.attributeObject("what_if", [&] {
    json.attribute("target", text(whatIf.target));
    json.attributeObject("now", [&] { writeFigures(json, whatIf.now); });
    writeRows("kinds", whatIf.kinds);
    writeRows("together", whatIf.together);
    writeRows("pairs", whatIf.pairs);
    json.attribute("pairs_tried", whatIf.pairsTried);
    json.attribute("pairs_there_are", whatIf.pairsThereAre);
  });
}

static void writeSweep(OStream &json, ArrayRef<SweepRow> rows) {
  json.attributeArray("min_block_sizes", [&] {
    for (const SweepRow &row : rows)
      json.object([&] {
        json.attribute("min_block_size", row.minBlockSize);
        writeFigures(json, row.figures);
      });
  });
}

static void writeFunction(OStream &json, const Report &report) {
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("function", text(report.function));
    if (!report.symbols.empty())
      json.attributeObject("symbols", [&] {
        for (const ReportedSymbol &symbol : report.symbols)
          json.attributeArray(llvm::json::fixUTF8(symbol.name), [&] {
            json.value(symbol.min);
            json.value(optionalNumber(symbol.max));
          });
      });
    json.attributeArray("segments", [&] {
      for (const SegmentedBlock &segment : report.segments)
        writeSegment(json, segment);
    });
    json.attributeArray("ops", [&] {
      for (const ReportedOp &op : report.ops)
        writeOp(json, op);
    });
    writeSummary(json, report);
    if (report.whatIf)
      writeWhatIf(json, *report.whatIf);
    if (!report.sweep.empty())
      writeSweep(json, report.sweep);
  });
}

void inlay::writeJsonReport(llvm::raw_ostream &os, ArrayRef<FunctionOpInterface> functions) {
  OStream json(os, 2);
  auto writeAll = [&] {
    for (FunctionOpInterface function : functions)
      writeFunction(json, makeReport(function));
  };
  if (functions.size() == 1)
    writeAll();
  else
    json.array(writeAll);
  json.flush();
  os << "\n";
}
