// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partition reports: the target of each op and the reason for it, read from a partitioned module alone.

#ifndef INLAY_PARTITION_REPORT_H
#define INLAY_PARTITION_REPORT_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/ReportFormat.h"
#include "inlay/Partition/SegmentedBlock.h"
#include "inlay/Partition/WhatIf.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace inlay {

struct ReportedOp {
  std::string label, name, target;
  unsigned segment;
  std::string code, text, causedBy;
};

/// Keys in `inlay.partition` of a function.
inline constexpr llvm::StringLiteral kLowerBoundFigure = "lower_bound";
inline constexpr llvm::StringLiteral kBytesCarriedFigure = "bytes_carried";
inline constexpr llvm::StringLiteral kBytesCarriedBeforeFigure = "bytes_carried_before";
inline constexpr llvm::StringLiteral kPlacementsFigure = "placements";
inline constexpr llvm::StringLiteral kWhatIfFigure = "what_if";
inline constexpr llvm::StringLiteral kSweepFigure = "min_block_sizes";

/// A dimension that is only known at a call, with its bounds. `max` is absent if there is no upper bound.
struct ReportedSymbol {
  std::string name;
  int64_t min;
  std::optional<int64_t> max;
};

struct Report {
  std::string function;
  std::vector<ReportedSymbol> symbols;
  std::vector<SegmentedBlock> segments;
  std::vector<ReportedOp> ops;
  std::vector<SegmentOp> segmentOps; ///< The ops of `segments`.
  std::vector<std::string> witness;
  /// No partition with the same targets of ops has fewer segments outside of regions. Absent if no bound was proven.
  std::optional<int64_t> lowerBound;
  /// The bytes of each value of known size outside of regions, times the number of borders that the value is carried
  /// over, summed over these values. `bytesCarriedBefore` is the sum before ops were moved to reduce it.
  std::optional<int64_t> bytesCarried, bytesCarriedBefore;
  /// The bytes of the weights by the name of their type: that of their elements, or of the codes packed in them.
  std::map<std::string, int64_t> weights;
  /// Modeled time in seconds, if a cost model is in effect.
  std::optional<double> modeled;
  /// Modeled times, in seconds, of the ops outside of regions: for this placement, for those that it was compared with,
  /// and the lower bound.
  std::vector<std::pair<std::string, double>> placements;
  std::optional<WhatIf> whatIf; ///< Present if it was requested.
  std::vector<SweepRow> sweep;  ///< Not empty if it was requested.
};

/// Returns the report on one function. Ops outside of segments are left out.
Report makeReport(mlir::FunctionOpInterface function);

/// Writes the reports on all functions of the module that have a body.
void writeReport(llvm::raw_ostream &os, mlir::ModuleOp module, ReportFormat format);
/// Returns the text that `writeReport` writes.
std::string getReport(mlir::ModuleOp module, ReportFormat format);

} // namespace inlay

#endif // INLAY_PARTITION_REPORT_H
