// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ran where and why, read from a partitioned module alone.

#ifndef INLAY_PARTITION_REPORT_H
#define INLAY_PARTITION_REPORT_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/ReportFormat.h"
#include "inlay/Partition/SegmentedBlock.h"
#include "inlay/Partition/WhatIf.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>
#include <string>
#include <vector>

namespace inlay {

struct ReportedOp {
  std::string label, name, target;
  unsigned segment;
  std::string code, text, causedBy;
};

/// Keys in the function's `inlay.partition`.
inline constexpr llvm::StringLiteral kLowerBoundFigure = "lower_bound";
inline constexpr llvm::StringLiteral kBytesCarriedFigure = "bytes_carried";
inline constexpr llvm::StringLiteral kBytesCarriedBeforeFigure = "bytes_carried_before";
inline constexpr llvm::StringLiteral kPlacementsFigure = "placements";
inline constexpr llvm::StringLiteral kWhatIfFigure = "what_if";
inline constexpr llvm::StringLiteral kSweepFigure = "min_block_sizes";

/// A size that is known at a call alone: from `min` to `max`, or without end.
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
  std::vector<SegmentOp> segmentOps; ///< of `segments`
  std::vector<std::string> witness;
  /// No partition with these targets of the ops has fewer segments outside of regions; nothing if none was proven.
  std::optional<int64_t> lowerBound;
  /// Bytes of known size times the borders between segments that they are carried over, outside of regions; and what
  /// they were before ops were moved for their sake.
  std::optional<int64_t> bytesCarried, bytesCarriedBefore;
  /// Seconds under the cost model in effect.
  std::optional<double> modelled;
  /// The same for the ops outside of regions: of this placement, of those it is compared with, and the lower bound.
  std::vector<std::pair<std::string, double>> placements;
  std::optional<WhatIf> whatIf; ///< if it was asked for
  std::vector<SweepRow> sweep;  ///< likewise
};

/// The report on one function. Ops outside of segments are left out.
Report makeReport(mlir::FunctionOpInterface function);

/// Reports on all functions of the module that have a body.
void writeReport(llvm::raw_ostream &os, mlir::ModuleOp module, ReportFormat format);
std::string getReport(mlir::ModuleOp module, ReportFormat format);

} // namespace inlay

#endif // INLAY_PARTITION_REPORT_H
