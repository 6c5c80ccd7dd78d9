// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placement files: the segment and target of each op, to save, read again and compare. Plain data, no IR.

#ifndef INLAY_PARTITION_PLACEMENTFILE_H
#define INLAY_PARTITION_PLACEMENTFILE_H

#include "inlay/Partition/SegmentedBlock.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace inlay {

struct PlacedOp {
  std::string label, name;
  /// Fingerprint of its name, attributes, types and the makers of its operands; empty in a report.
  std::string fingerprint;
  std::string code, text, causedBy; ///< The reason.
};

/// A partitioned function. `inputs`, `outputs` and `isAccelerated` of segments are not stored.
struct PlacedFunction {
  std::string function;
  std::string fingerprint; ///< Of the whole graph, for any order in which it is written; empty in a report.
  std::vector<SegmentedBlock> segments;
  std::vector<PlacedOp> ops;
};

using PlacementFile = std::vector<PlacedFunction>;

/// Returns the text of a placement file.
std::string writePlacement(const PlacementFile &file);

/// Reads the text of a placement file. Returns an error unless each key occurs once with the right type, labels are
/// unique, and each label is in one segment.
llvm::Expected<PlacementFile> readPlacement(llvm::StringRef text);

/// Reads a placement file, or a partition report as a placement.
llvm::Expected<PlacementFile> readPlacementOrReport(llvm::StringRef text);

/// Returns a description of the differences for human readers: for each function, the segments, the bytes, and the ops
/// that moved, with their reasons. Returns an empty string if there are no differences.
std::string comparePlacements(const PlacementFile &before, const PlacementFile &after);

} // namespace inlay

#endif // INLAY_PARTITION_PLACEMENTFILE_H
