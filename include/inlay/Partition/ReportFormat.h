// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of a partition report. Plain data, no IR.

#ifndef INLAY_PARTITION_REPORTFORMAT_H
#define INLAY_PARTITION_REPORTFORMAT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace inlay {

enum class ReportFormat {
  Json,  ///< the contract's: an object, or an array of objects if the module has several functions
  Text,  ///< each segment with its ops, then a summary
  Table, ///< a row per segment, then the summary
  Html,  ///< a page that needs no other file: the graph of segments, ops with reasons, a table to sort and filter
};

std::optional<ReportFormat> symbolizeReportFormat(llvm::StringRef name);
/// By the end of the file's name: text for `.txt`, a page for `.html`, JSON else.
ReportFormat findReportFormat(llvm::StringRef path);

} // namespace inlay

#endif // INLAY_PARTITION_REPORTFORMAT_H
