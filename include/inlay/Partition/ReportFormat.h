// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats of a partition report. Plain data, no IR.

#ifndef INLAY_PARTITION_REPORTFORMAT_H
#define INLAY_PARTITION_REPORTFORMAT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace inlay {

enum class ReportFormat {
  Json,  ///< An object, or an array of objects if the module has several functions. Other tools read it.
  Text,  ///< Each segment with its ops, then a summary.
  Table, ///< A row per segment, then the summary.
  Html,  ///< A page that needs no other file: the graph of segments, ops with reasons, a table to sort and filter.
};

/// Returns the format of that name, or std::nullopt.
std::optional<ReportFormat> symbolizeReportFormat(llvm::StringRef name);
/// Returns the format by the extension of the file: text for `.txt`, HTML for `.html` and `.htm`, else JSON.
ReportFormat findReportFormat(llvm::StringRef path);

} // namespace inlay

#endif // INLAY_PARTITION_REPORTFORMAT_H
