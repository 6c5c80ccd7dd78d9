// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writers of each report format, and helpers that they share.

#ifndef INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H
#define INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H

#include "inlay/Partition/Report.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace inlay {

/// These functions write the reports on functions of a module, one function after the other.
void writeJsonReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);
void writeTextReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);
void writeTableReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);

void writeHtmlReport(llvm::raw_ostream &os, llvm::ArrayRef<mlir::FunctionOpInterface> functions);

/// Writes `@forward: 6 ops in 5 segments`.
void writeTitle(llvm::raw_ostream &os, const Report &report);
/// Writes the ops per target, the bytes across borders, the reasons, and the proof of the number of segments.
void writeSummary(llvm::raw_ostream &os, const Report &report);

/// Returns a text such as `1536 B`, `15.0 KiB` or `15.0 MiB`. Units change at 10 KiB and at 10 MiB. If the number is
/// not known, returns `byDims` with the unit `B`, or `?` if `byDims` is empty. The runtime
/// (inlay/Runtime/Report/ReportKeys.h) and Python (_program/report.py) have formatters of their own, which change units
/// at 1 KiB, 1 MiB and 1 GiB.
std::string formatBytes(std::optional<int64_t> bytes, llvm::StringRef byDims = "");
/// Returns `1 op`, `2 ops`, and so on.
std::string countOf(size_t count, llvm::StringRef noun);
/// Returns the first `limit` names and the number of the others.
std::string listSome(llvm::ArrayRef<std::string> names, size_t limit);

/// The counts in the summary.
struct ReportCounts {
  explicit ReportCounts(const Report &report);

  std::map<std::string, int64_t> opsPerTarget, segmentsPerTarget, reasons;
  int64_t segmentsAtTop = 0, acceleratedSegments = 0, acceleratedOps = 0;
};

/// Returns the labels of ops that fell back, by `code: op name: text`. If an op caused this, `<-` and its label follow.
std::map<std::string, std::vector<std::string>> groupReasons(const Report &report);
/// Returns the bytes that enter and leave accelerators, and true if all sizes are known.
std::pair<int64_t, bool> countBorderBytes(const Report &report);
/// Returns the target of each label.
llvm::StringMap<llvm::StringRef> findTargets(const Report &report);
/// Returns the number of target changes along the witness.
size_t countChanges(const Report &report);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_REPORTWRITERS_H
