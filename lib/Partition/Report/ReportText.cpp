// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text report: each segment with its ops, the segments of a region below the op that owns it, then the summary.

#include "ReportNames.h"
#include "ReportWriters.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

using namespace mlir;
using namespace inlay;

namespace {
class TextWriter {
public:
  TextWriter(llvm::raw_ostream &os, const Report &report, FunctionOpInterface function)
      : os(os), report(report), names(function), block(function.front()) {
    for (auto [number, segment] : llvm::enumerate(report.segmentOps))
      numbers[segment] = static_cast<unsigned>(number);
  }

  void write() {
    for (SegmentOp segment : block.getOps<SegmentOp>())
      writeSegment(segment, 0);
  }

private:
  static constexpr unsigned kStep = 4;

  void writeSegment(SegmentOp segment, unsigned indent) {
    Block &body = segment.getBody().front();
    os.indent(indent) << "Segment Block @" << numbers.lookup(segment) << ":\n";
    indent += kStep;
    os.indent(indent) << "Target: " << segment.getTargetInterface().getTargetName() << "\n";
    if (const std::optional<SegmentTime> &time = report.segments[numbers.lookup(segment)].modeled)
      os.indent(indent) << "Time: " << formatSeconds(time->total()) << " (compute " << formatSeconds(time->compute)
                        << ", launch " << formatSeconds(time->launch) << ", in " << formatSeconds(time->transferIn)
                        << ", out " << formatSeconds(time->transferOut) << ")\n";
    if (segment.getDoNotMerge())
      os.indent(indent) << "Not merged with its neighbors\n";
    os.indent(indent) << "Graph: graph(";
    names.print(os, body.getArguments(), /*types=*/true);
    os << "):\n";
    for (Operation &op : body.without_terminator())
      writeOp(&op, indent + kStep);
    writeEnd("return", body.getTerminator(), indent + kStep);
    os << "\n";
  }

  void writeEnd(StringRef word, Operation *terminator, unsigned indent) {
    os.indent(indent) << word << " (";
    names.print(os, terminator->getOperands(), /*types=*/false);
    os << ")\n";
  }

  void writeOp(Operation *op, unsigned indent) {
    os.indent(indent);
    names.print(os, op);
    auto verdict = op->getAttrOfType<VerdictAttr>(InlayDialect::kVerdictAttr);
    if (op->hasAttr(InlayDialect::kCloneAttr))
      os << "  # clone";
    else if (verdict && verdict.getCode() != "supported")
      os << "  # " << verdict.getCode();
    os << "\n";
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        writeBlock(inner, region.getRegionNumber(), indent + kStep);
  }

  void writeBlock(Block &inner, unsigned region, unsigned indent) {
    os.indent(indent) << "region " << region;
    if (inner.getNumArguments() > 0) {
      os << "(";
      names.print(os, inner.getArguments(), /*types=*/true);
      os << ")";
    }
    os << ":\n";
    Operation *terminator = inner.empty() || !inner.back().hasTrait<OpTrait::IsTerminator>() ? nullptr : &inner.back();
    for (Operation &op : inner)
      if (auto segment = dyn_cast<SegmentOp>(op))
        writeSegment(segment, indent + kStep);
      else if (&op != terminator)
        writeOp(&op, indent + kStep);
    if (terminator)
      writeEnd("yield", terminator, indent + kStep);
  }

  llvm::raw_ostream &os;
  const Report &report;
  ReportNames names;
  Block &block;
  llvm::DenseMap<Operation *, unsigned> numbers;
};
} // namespace

void inlay::writeTextReport(llvm::raw_ostream &os, ArrayRef<FunctionOpInterface> functions) {
  for (FunctionOpInterface function : functions) {
    Report report = makeReport(function);
    writeTitle(os, report);
    os << "\n";
    TextWriter(os, report, function).write();
    writeSummary(os, report);
    os << (function == functions.back() ? "" : "\n");
  }
}
