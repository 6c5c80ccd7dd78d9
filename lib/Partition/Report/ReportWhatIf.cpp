// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of the HTML report for the what-if analysis and the sweep.

#include "ReportHtml.h"
#include "inlay/Support/TargetCosts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace inlay;

static void writeHeads(llvm::raw_ostream &os, const PartitionSummary &figures) {
  os << "<th class=\"n\">segments</th><th class=\"n\">on accelerators</th><th class=\"n\">ops on accelerators</th>"
        "<th class=\"n\">across borders</th>"
     << (figures.seconds ? "<th class=\"n\">modeled time</th>" : "");
}

/// Writes a figure and its difference from the current one. `fewer` is true if a lower figure is better.
static void writeFigure(llvm::raw_ostream &os, int64_t figure, int64_t now, bool fewer) {
  os << "<td class=\"n\" data-v=\"" << figure << "\">" << figure;
  if (int64_t change = figure - now)
    os << " <span class=\"" << ((change < 0) == fewer ? "less" : "more") << "\">" << (change < 0 ? "−" : "+")
       << std::abs(change) << "</span>";
  os << "</td>";
}

static void writeFigures(llvm::raw_ostream &os, const PartitionSummary &figures, const PartitionSummary &now) {
  writeFigure(os, figures.segments, now.segments, true);
  writeFigure(os, figures.acceleratedSegments, now.acceleratedSegments, true);
  writeFigure(os, figures.acceleratedOps, now.acceleratedOps, false);
  double share =
      now.borderBytes ? 100.0 * static_cast<double>(figures.borderBytes) / static_cast<double>(now.borderBytes) : 0;
  os << "<td class=\"n\" data-v=\"" << figures.borderBytes << "\">" << (figures.allKnown ? "" : "≥ ")
     << formatBytes(figures.borderBytes) << " <span class=\"soft\">"
     << (now.borderBytes ? llvm::formatv("{0:f0} %", share).str() : "") << "</span></td>";
  if (figures.seconds && now.seconds)
    os << "<td class=\"n\" data-v=\"" << llvm::formatv("{0:e}", *figures.seconds) << "\">"
       << formatSeconds(*figures.seconds) << " <span class=\"" << (*figures.seconds <= *now.seconds ? "less" : "more")
       << "\">" << (*now.seconds > 0 ? llvm::formatv("{0:f0} %", 100 * *figures.seconds / *now.seconds).str() : "")
       << "</span></td>";
}

static void writeRows(llvm::raw_ostream &os, StringRef title, ArrayRef<WhatIfRow> rows, const PartitionSummary &now) {
  if (rows.empty())
    return;
  os << "<h2>" << title << "</h2>\n<div class=\"wrap\"><table class=\"sorts\"><thead><tr><th>ops of kind</th>"
     << "<th class=\"n\">number</th>";
  writeHeads(os, now);
  os << "</tr></thead><tbody>\n";
  for (const WhatIfRow &row : rows) {
    os << "<tr><td class=\"mono\">" << escapeHtml(llvm::join(row.kinds, " + ")) << "</td><td class=\"n\" data-v=\""
       << row.ops << "\">" << row.ops << "</td>";
    writeFigures(os, row.figures, now);
    os << "</tr>\n";
  }
  os << "</tbody></table></div>\n";
}

void inlay::writeWhatIf(llvm::raw_ostream &os, const Report &report) {
  if (report.whatIf) {
    const WhatIf &whatIf = *report.whatIf;
    os << "<section>\n<h2>What if <code>" << escapeHtml(whatIf.target)
       << "</code> ran more?</h2>\n<p class=\"soft\">Each row is another partition, regions included. The current one "
          "has "
       << countOf(whatIf.now.segments, "segment") << ", " << whatIf.now.acceleratedSegments << " on accelerators with "
       << countOf(whatIf.now.acceleratedOps, "op") << ".</p>\n";
    if (whatIf.kinds.empty())
      os << "<p>It has code for every op that isn't forced away.</p>\n";
    writeRows(os, "One kind by itself", whatIf.kinds, whatIf.now);
    if (whatIf.together.size() > 1)
      writeRows(os, "Together: the best kind, then each time the kind that adds the most", whatIf.together, whatIf.now);
    writeRows(os, "The best pairs", whatIf.pairs, whatIf.now);
    if (whatIf.pairsTried < whatIf.pairsThereAre)
      os << "<p class=\"soft\">" << whatIf.pairsTried << " of " << whatIf.pairsThereAre << " pairs were tried.</p>\n";
    os << "</section>\n";
  }
  if (report.sweep.empty())
    return;
  const PartitionSummary &first = report.sweep.front().figures;
  os << "<section>\n<h2>What if segments had another minimum size?</h2>\n<div class=\"wrap\"><table "
        "class=\"sorts\"><thead><tr><th class=\"n\">min_block_size</th>";
  writeHeads(os, first);
  os << "<th>ops kept</th></tr></thead><tbody>\n";
  for (const SweepRow &row : report.sweep) {
    double kept = first.acceleratedOps
                      ? static_cast<double>(row.figures.acceleratedOps) / static_cast<double>(first.acceleratedOps)
                      : 0;
    os << "<tr><td class=\"n\" data-v=\"" << row.minBlockSize << "\">" << row.minBlockSize << "</td>";
    writeFigures(os, row.figures, first);
    os << "<td data-v=\"" << llvm::formatv("{0:f4}", kept)
       << "\"><span class=\"bar t0\" style=\"width:" << llvm::formatv("{0:f0}", 160 * kept) << "px\"></span> "
       << llvm::formatv("{0:f1} %", 100 * kept) << "</td></tr>\n";
  }
  os << "</tbody></table></div>\n</section>\n";
}
