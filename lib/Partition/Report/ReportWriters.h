// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of a report, and what they share.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H
#define INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H

#include "inlay/Partition/Report.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace inlay {

/// Each writes the reports on some functions of a module to a stream, one function after the other.
void writeJsonReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);
void writeTextReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);
void writeTableReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);

void writeHtmlReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);

/// `@forward: 6 ops in 5 segments`.
void writeTitle(llvm::raw_ostream &os, const Report &report);
/// Ops per target, bytes across borders, reasons, and why there are no fewer segments.
void writeSummary(llvm::raw_ostream &os, const Report &report);

/// `1.5 MiB`; `?` for nothing.
std::string formatBytes(std::optional<int64_t> bytes, llvm::StringRef byDims = "");
/// `1 op`, `2 ops`.
std::string countOf(size_t count, llvm::StringRef noun);
/// At most `limit` of the names.
std::string listSome(llvm::ArrayRef<std::string> names, size_t limit);

/// What the summary counts.
struct ReportCounts {
  explicit ReportCounts(const Report &report);

  std::map<std::string, int64_t> opsPerTarget, segmentsPerTarget, reasons;
  int64_t segmentsAtTop = 0, acceleratedSegments = 0, acceleratedOps = 0;
};

/// Labels of ops that fell back, by `code: op name: text`; each with `<-` and the label of what caused it, if any.
std::map<std::string, std::vector<std::string>> groupReasons(const Report &report);
/// Bytes that enter and leave accelerators, and whether all sizes are known.
std::pair<int64_t, bool> countBorderBytes(const Report &report);
/// The target of each label.
llvm::StringMap<llvm::StringRef> findTargets(const Report &report);
/// How often the target changes along the witness.
size_t countChanges(const Report &report);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H
