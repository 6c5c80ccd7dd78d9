// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTML report, a page that needs no other file. It is readable without scripts, which only sort, filter and unfold.

#include "ReportHtml.h"
#include "Partition/Analysis/OpKinds.h"
#include "ReportNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace inlay;

static constexpr char kStyle[] =
#include "ReportPage.css.inc"
    ;
static constexpr char kScript[] =
#include "ReportPage.js.inc"
    ;

/// Limits above which a browser becomes slow: the number of ops, the number of ops on the witness path, and the number
/// of ops up to which segments are unfolded. The page states what is left out.
static constexpr size_t kMaxOps = 10'000, kMaxOnPath = 200, kMaxUnfoldedOps = 120;

void inlay::writeLink(llvm::raw_ostream &os, StringRef prefix, unsigned segment) {
  if (segment < kMaxSegments)
    os << " href=\"#" << prefix << "s" << segment << "\"";
}

std::string inlay::escapeHtml(StringRef text) {
  std::string result;
  for (char c : llvm::json::fixUTF8(text)) {
    bool isControl = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n';
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += isControl ? std::string("\uFFFD") : std::string(1, c);
    }
  }
  return result;
}

std::string inlay::abbreviate(StringRef text, size_t limit) {
  std::string whole = llvm::json::fixUTF8(text);
  if (whole.size() <= limit)
    return whole;
  size_t end = limit - 1;
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80)
    --end;
  return whole.substr(0, end) + "…";
}

Tones::Tones(const Report &report) {
  static constexpr StringLiteral kAccelerators[] = {"t0", "t2", "t3", "t4"}, kOthers[] = {"t1", "t5", "t4"};
  unsigned accelerators = 0, others = 0;
  for (const SegmentedBlock &segment : report.segments)
    if (StringRef &tone = tones[segment.target]; tone.empty()) {
      tone = segment.isAccelerated ? kAccelerators[accelerators++ % 4] : kOthers[others++ % 3];
      targets.push_back(segment.target);
    }
}

SegmentsByRegion inlay::groupByRegion(const Report &report) {
  SegmentsByRegion regions;
  for (const SegmentedBlock &segment : report.segments)
    regions[segment.parent][segment.region].push_back(segment.id);
  return regions;
}

/// Returns the full reason for a tooltip.
static std::string explain(const ReportedOp &op) {
  std::string text = op.code + (op.text.empty() ? "" : ": " + op.text);
  return text + (op.causedBy.empty() ? "" : " (because of " + op.causedBy + ")");
}

namespace {
class PageWriter {
public:
  PageWriter(llvm::raw_ostream &os, FunctionOpInterface function, unsigned number)
      : os(os), report(makeReport(function)), names(function), counts(report), tones(report),
        regions(groupByRegion(report)), prefix("f" + std::to_string(number)) {}

  void write() {
    os << "<main>\n<h1>Partition of <code>@" << escapeHtml(report.function) << "</code></h1>\n";
    writeCards();
    if (!report.segments.empty()) {
      writeStrip();
      os << "<div class=\"split\">\n<section>\n<h2>Segments as a graph</h2>\n<div class=\"scroll\">\n";
      writeGraph(os, report, tones, regions, prefix);
      os << "</div>\n</section>\n";
      writeSegments();
      os << "</div>\n";
    }
    writeReasons();
    writeProof();
    writeWhatIf(os, report);
    writeOps();
    os << "</main>\n";
  }

private:
  //===-- Summary -----------------------------------------------------------------------------------------------===//

  void writeCard(StringRef title, const std::string &figure, const std::string &more) {
    os << "<div><i>" << title << "</i><b>" << figure << "</b><i>" << more << "</i></div>\n";
  }

  void writeCards() {
    os << "<div class=\"cards\">\n";
    size_t ops = report.ops.size();
    double share = ops ? 100.0 * static_cast<double>(counts.acceleratedOps) / static_cast<double>(ops) : 0;
    writeCard("ops on accelerators", std::to_string(counts.acceleratedOps),
              llvm::formatv("of {0}, {1:f1} %", ops, share).str());
    std::string bound;
    if (report.lowerBound)
      bound = *report.lowerBound == counts.segmentsAtTop ? "no fewer are possible"
                                                         : "at least " + std::to_string(*report.lowerBound) + " needed";
    int64_t inner = static_cast<int64_t>(report.segments.size()) - counts.segmentsAtTop;
    writeCard("segments", std::to_string(counts.segmentsAtTop),
              bound + (inner ? (bound.empty() ? "" : "; ") + std::to_string(inner) + " more in regions" : ""));
    writeCard("on accelerators", std::to_string(counts.acceleratedSegments), "segments, regions included");
    auto [bytes, allKnown] = countBorderBytes(report);
    writeCard("across accelerator borders", (allKnown ? "" : "≥ ") + formatBytes(bytes),
              allKnown ? "in and out, per call" : "some sizes are not known");
    if (report.bytesCarried && report.bytesCarriedBefore)
      writeCard("carried between segments", formatBytes(report.bytesCarried),
                *report.bytesCarried == *report.bytesCarriedBefore
                    ? "bytes times borders"
                    : formatBytes(report.bytesCarriedBefore) + " before ops were moved");
    if (report.modeled)
      writeCard("modeled time", formatSeconds(*report.modeled), "per call, by the cost model");
    os << "</div>\n";
  }

  /// Writes a bar of all segments in execution order, each as wide as its number of ops, and a legend of targets and
  /// colors.
  void writeStrip() {
    os << "<section>\n<h2>In order of execution</h2>\n";
    size_t shown = std::min<size_t>(report.segments.size(), kMaxSegments), at = 0, ops = 0;
    for (size_t segment = 0; segment < shown; ++segment)
      ops += report.segments[segment].ops.size();
    os << "<svg class=\"strip" << (shown > 200 ? " many" : "")
       << "\" role=\"img\" aria-label=\"segments in order\" preserveAspectRatio=\"none\" viewBox=\"0 "
          "0 "
       << std::max<size_t>(ops, 1) << " 1\">";
    for (size_t number = 0; number < shown; ++number) {
      const SegmentedBlock &segment = report.segments[number];
      os << "<a";
      writeLink(os, prefix, static_cast<unsigned>(number));
      os << "><rect class=\"" << tones.get(segment.target) << "\" x=\"" << at << "\" y=\"0\" width=\""
         << segment.ops.size() << "\" height=\"1\"><title>#" << number << " " << escapeHtml(segment.target) << ", "
         << countOf(segment.ops.size(), "op") << "</title></rect></a>";
      at += segment.ops.size();
    }
    os << "</svg>\n<ul class=\"legend\">";
    for (const std::string &target : tones.getTargets())
      os << "<li class=\"" << tones.get(target) << "\"><b>" << escapeHtml(target) << "</b> "
         << countOf(counts.opsPerTarget[target], "op") << " in " << countOf(counts.segmentsPerTarget[target], "segment")
         << "</li>";
    os << "</ul>\n</section>\n";
  }

  //===-- Segments ----------------------------------------------------------------------------------------------===//

  void writeSegments() {
    os << "<section id=\"" << prefix
       << "list\">\n<h2>Segments and their ops <button class=\"needs-script\" hidden "
          "data-opens=\""
       << prefix << "list\">unfold or fold all</button></h2>\n";
    std::vector<size_t> first(report.segments.size() + 1); // The first entry of each segment in report.ops.
    for (const SegmentedBlock &segment : report.segments)
      first[segment.id + 1] = first[segment.id] + segment.ops.size();
    firstOp = std::move(first);
    if (auto top = regions.find(""); top != regions.end())
      for (unsigned segment : top->second.begin()->second)
        writeSegment(segment);
    if (listedSegments < report.segments.size() || listedOps < report.ops.size())
      os << "<p class=\"soft\">" << listedOps << " of " << report.ops.size() << " ops in " << listedSegments << " of "
         << report.segments.size() << " segments are listed; the other forms of the report have all.</p>\n";
    os << "</section>\n";
  }

  void writeSegment(unsigned number) {
    if (number >= kMaxSegments)
      return;
    ++listedSegments;
    const SegmentedBlock &segment = report.segments[number];
    os << "<details class=\"segment " << tones.get(segment.target) << "\" id=\"" << prefix << "s" << number << "\""
       << (report.ops.size() <= kMaxUnfoldedOps ? " open" : "") << "><summary><b>#" << number << " "
       << escapeHtml(segment.target) << "</b> <span class=\"soft\">" << countOf(segment.ops.size(), "op") << ", "
       << escapeHtml(formatBytes(segment.bytesIn, segment.bytesInByDims)) << " in, "
       << escapeHtml(formatBytes(segment.bytesOut, segment.bytesOutByDims)) << " out"
       << (segment.modeled ? ", modeled " + formatSeconds(segment.modeled->total()) : "")
       << (segment.doNotMerge ? ", not merged with its neighbors" : "") << "</span></summary>\n<div class=\"body\">\n";
    SegmentOp op = report.segmentOps[number];
    os << "<ol class=\"ops\">\n<li class=\"soft mono\">graph(" << print(op.getBody().getArguments(), true)
       << "):</li>\n";
    size_t entry = firstOp[number];
    for (Operation &inner : op.getBody().front().without_terminator()) {
      bool isClone = inner.hasAttr(InlayDialect::kCloneAttr);
      bool isCounted = !isClone && !isConstantLike(&inner);
      if (listedOps >= kMaxOps && !isControlFlow(&inner)) {
        entry += isCounted;
        continue;
      }
      writeOp(&inner, isClone, isCounted ? &report.ops[entry++] : nullptr);
    }
    os << "<li class=\"soft mono\">return (" << print(op.getBody().front().getTerminator()->getOperands(), false)
       << ")</li>\n</ol>\n</div></details>\n";
  }

  void writeOp(Operation *op, bool isClone, const ReportedOp *entry) {
    std::string line;
    llvm::raw_string_ostream stream(line);
    names.print(stream, op);
    os << "<li" << (isClone ? " class=\"clone\"" : "") << "><code" << (entry ? "" : " class=\"t5\"");
    if (entry)
      os << " title=\"" << escapeHtml(explain(*entry)) << "\"";
    os << ">" << escapeHtml(line) << "</code>";
    if (isClone)
      os << "<span class=\"soft\"> clone</span>";
    if (entry && entry->code != "supported")
      os << "<span class=\"why\" title=\"" << escapeHtml(explain(*entry)) << "\">" << escapeHtml(entry->code)
         << "</span>";
    if (entry) {
      ++listedOps;
      if (auto owned = regions.find(entry->label); owned != regions.end())
        for (auto &[region, inner] : owned->second) {
          os << "\n<div class=\"region\"><span class=\"soft\">region " << region << "</span>\n";
          for (unsigned segment : inner)
            writeSegment(segment);
          os << "</div>";
        }
    }
    os << "</li>\n";
  }

  std::string print(ValueRange values, bool types) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    names.print(stream, values, types);
    return escapeHtml(abbreviate(text, 4'000));
  }

  //===-- Reasons -----------------------------------------------------------------------------------------------===//

  void writeReasons() {
    std::map<std::string, std::vector<std::string>> groups = groupReasons(report);
    if (groups.empty())
      return;
    os << "<section>\n<h2>Not on the first target</h2>\n<div class=\"wrap\"><table><thead><tr><th class=\"n\">ops</th>"
          "<th>why</th><th>which</th></tr></thead><tbody>\n";
    for (auto &[reason, labels] : groups)
      os << "<tr><td class=\"n\">" << labels.size() << "</td><td>" << escapeHtml(reason) << "</td><td class=\"mono\">"
         << escapeHtml(listSome(labels, 12)) << "</td></tr>\n";
    os << "</tbody></table></div>\n</section>\n";
  }

  void writeProof() {
    size_t changes = countChanges(report);
    if (!changes)
      return;
    llvm::StringMap<StringRef> targets = findTargets(report);
    os << "<section>\n<h2>Why there are no fewer segments</h2>\n<p class=\"soft\">Each of these ops depends on the one "
          "before. On this path the target changes "
       << countOf(changes, "time");
    if (report.lowerBound)
      os << "; no partition of these ops to these targets has fewer than " << *report.lowerBound << " segments";
    os << ".</p>\n<div class=\"path\">";
    for (const std::string &label : ArrayRef(report.witness).take_front(kMaxOnPath))
      os << "<span class=\"" << tones.get(targets.lookup(label)) << "\" title=\"" << escapeHtml(targets.lookup(label))
         << "\">" << escapeHtml(label) << "</span>";
    os << "</div>\n";
    if (report.witness.size() > kMaxOnPath)
      os << "<p class=\"soft\">... and " << report.witness.size() - kMaxOnPath << " more.</p>\n";
    os << "</section>\n";
  }

  //===-- Ops ---------------------------------------------------------------------------------------------------===//

  void writeOps() {
    size_t shown = std::min(report.ops.size(), kMaxOps);
    os << "<section>\n<h2>Ops</h2>\n<p class=\"needs-script\" hidden><input type=\"search\" data-filters=\"" << prefix
       << "ops\" placeholder=\"words in a label, op, target or reason\" aria-label=\"filter ops\"><span "
          "class=\"soft\"></span></p>\n<div class=\"scroll\"><table class=\"sorts\" id=\""
       << prefix
       << "ops\"><thead><tr><th class=\"n\">#</th><th>label</th><th>op</th><th>target</th><th "
          "class=\"n\">segment</th><th>reason</th><th>because</th></tr></thead><tbody>\n";
    for (size_t number = 0; number < shown; ++number) {
      const ReportedOp &op = report.ops[number];
      os << "<tr class=\"" << tones.get(op.target) << "\"><td class=\"n\" data-v=\"" << number << "\">" << number
         << "</td><td class=\"mono\">" << escapeHtml(op.label) << "</td><td class=\"mono\">" << escapeHtml(op.name)
         << "</td><td class=\"dot\">" << escapeHtml(op.target) << "</td><td class=\"n\" data-v=\"" << op.segment
         << "\"><a";
      writeLink(os, prefix, op.segment);
      os << ">" << op.segment << "</a></td><td>" << escapeHtml(op.code) << "</td><td>" << escapeHtml(op.text);
      if (!op.causedBy.empty())
        os << " <span class=\"soft\">(" << escapeHtml(op.causedBy) << ")</span>";
      os << "</td></tr>\n";
    }
    os << "</tbody></table></div>\n";
    if (shown < report.ops.size())
      os << "<p class=\"soft\">The first " << shown << " of " << report.ops.size()
         << " ops are listed; the other forms of the report have all.</p>\n";
    os << "</section>\n";
  }

  llvm::raw_ostream &os;
  Report report;
  ReportNames names;
  ReportCounts counts;
  Tones tones;
  SegmentsByRegion regions;
  std::string prefix;
  std::vector<size_t> firstOp;
  size_t listedSegments = 0, listedOps = 0;
};
} // namespace

void inlay::writeHtmlReport(llvm::raw_ostream &os, ArrayRef<FunctionOpInterface> functions) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Partition";
  if (functions.size() == 1)
    os << " of @" << escapeHtml(FunctionOpInterface(functions.front()).getName());
  os << "</title>\n<style>" << kStyle << "</style>\n</head>\n<body>\n";
  for (auto [number, function] : llvm::enumerate(functions))
    PageWriter(os, function, static_cast<unsigned>(number)).write();
  os << "<script>" << kScript << "</script>\n</body>\n</html>\n";
}
