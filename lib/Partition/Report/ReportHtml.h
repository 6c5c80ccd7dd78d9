// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the parts of the HTML report share.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTHTML_H
#define INLAY_LIB_PARTITION_REPORT_REPORTHTML_H

#include "ReportWriters.h"

namespace inlay {

/// Maximum number of segments with an entry on the page, to which `writeLink` links.
inline constexpr unsigned kMaxSegments = 2'000;

/// Writes ` href="#f0s7"`, or nothing if the segment has no entry.
void writeLink(llvm::raw_ostream &os, llvm::StringRef prefix, unsigned segment);

/// Returns text of any bytes, escaped for an element or a quoted attribute.
std::string escapeHtml(llvm::StringRef text);
/// Returns at most `limit` bytes of the text, cut between characters, with an ellipsis if a part is left out.
std::string abbreviate(llvm::StringRef text, size_t limit);

/// A color class per target, `t0` to `t5`: blue and similar colors for accelerators, amber and gray for others.
class Tones {
public:
  explicit Tones(const Report &report);
  llvm::StringRef get(llvm::StringRef target) const { return tones.lookup(target); }
  /// Returns the targets in order of appearance.
  llvm::ArrayRef<std::string> getTargets() const { return targets; }

private:
  std::vector<std::string> targets;
  llvm::StringMap<llvm::StringRef> tones;
};

/// Segments by the label of the op that owns their region (empty for the function) and by the number of the region.
using SegmentsByRegion = std::map<std::string, std::map<unsigned, std::vector<unsigned>>>;
SegmentsByRegion groupByRegion(const Report &report);

/// Writes the graph of segments as an `svg` element and a note on parts that are not drawn. `prefix` starts the ids
/// that links refer to.
void writeGraph(llvm::raw_ostream &os, const Report &report, const Tones &tones, const SegmentsByRegion &regions,
                llvm::StringRef prefix);

/// Writes the what-if analysis and the sweep, if the report has them.
void writeWhatIf(llvm::raw_ostream &os, const Report &report);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTHTML_H
