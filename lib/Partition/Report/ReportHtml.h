// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the report's page share.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTHTML_H
#define INLAY_LIB_PARTITION_REPORT_REPORTHTML_H

#include "ReportWriters.h"

namespace inlay {

/// Segments with a number below have an entry on the page, which `writeLink` leads to.
inline constexpr unsigned kMaxSegments = 2'000;

/// ` href="#f0s7"`, or nothing if the segment has no entry.
void writeLink(llvm::raw_ostream &os, llvm::StringRef prefix, unsigned segment);

/// Text of any bytes as it may stand in an element or a quoted attribute.
std::string escapeHtml(llvm::StringRef text);
/// At most `limit` bytes of the text, cut between characters, with dots in place of what is left out.
std::string abbreviate(llvm::StringRef text, size_t limit);

/// A colour class per target, `t0` to `t5`: blue and its like for accelerators, amber and grey for others.
class Tones {
public:
  explicit Tones(const Report &report);
  llvm::StringRef get(llvm::StringRef target) const { return tones.lookup(target); }
  /// Targets in order of appearance.
  llvm::ArrayRef<std::string> getTargets() const { return targets; }

private:
  std::vector<std::string> targets;
  llvm::StringMap<llvm::StringRef> tones;
};

/// Segments by the label of the op that owns the region they are in (none at the top) and the region's number.
using SegmentsByRegion = std::map<std::string, std::map<unsigned, std::vector<unsigned>>>;
SegmentsByRegion groupByRegion(const Report &report);

/// The graph of segments as an `svg` element and a word on what isn't drawn. Links are to the segments of `prefix`.
void writeGraph(llvm::raw_ostream &os, const Report &report, const Tones &tones, const SegmentsByRegion &regions,
                llvm::StringRef prefix);

/// What would be if the first target ran more ops, or segments had another least size, as far as that was asked.
void writeWhatIf(llvm::raw_ostream &os, const Report &report);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTHTML_H
