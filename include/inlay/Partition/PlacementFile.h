// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which segment and target each op went to, as a file: saved, read again, compared. Plain data, no IR.

#ifndef INLAY_PARTITION_PLACEMENTFILE_H
#define INLAY_PARTITION_PLACEMENTFILE_H

#include "inlay/Partition/SegmentedBlock.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace inlay {

struct PlacedOp {
  std::string label, name;
  /// Of its name, attributes, types and what makes its operands; empty in a report.
  std::string fingerprint;
  std::string code, text, causedBy; ///< the reason
};

/// A partitioned function. Of the segments, `inputs`, `outputs` and `isAccelerated` are not kept.
struct PlacedFunction {
  std::string function;
  std::string fingerprint; ///< of the whole graph, whatever order it is written in; empty in a report
  std::vector<SegmentedBlock> segments;
  std::vector<PlacedOp> ops;
};

using PlacementFile = std::vector<PlacedFunction>;

std::string writePlacement(const PlacementFile &file);

/// Reads what `writePlacement` writes, and nothing else: each key once, of the right type, labels unique and each in
/// one segment.
llvm::Expected<PlacementFile> readPlacement(llvm::StringRef text);

/// Reads a placement file, or a partition report as one.
llvm::Expected<PlacementFile> readPlacementOrReport(llvm::StringRef text);

/// What differs, for people: per function segments, bytes, and ops that moved with their reasons. Empty if nothing
/// does.
std::string comparePlacements(const PlacementFile &before, const PlacementFile &after);

} // namespace inlay

#endif // INLAY_PARTITION_PLACEMENTFILE_H
