// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A segment's data, as reports and callers of `Partitioning.h` read it. Plain data, no IR.

#ifndef INLAY_PARTITION_SEGMENTEDBLOCK_H
#define INLAY_PARTITION_SEGMENTEDBLOCK_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inlay {

/// A value at a segment's border.
struct BorderValue {
  std::string type;
  /// Label of the op that makes it, with `:number` for results after the first; `arg#number` for an argument.
  std::string from;
  std::optional<int64_t> bytes;
  std::optional<unsigned> segment; ///< the segment that makes it; nothing for arguments
  std::vector<std::string> dims;   ///< of a tensor with sizes that are known at a call alone, by the names of symbols
  std::string bytesByDims;         ///< then its bytes, as an expression; empty if nothing says them
};

/// What a segment takes under the cost model in effect, in seconds.
struct SegmentTime {
  double compute = 0, launch = 0, transferIn = 0, transferOut = 0;
  double total() const { return compute + launch + transferIn + transferOut; }
};

/// A segment of a partitioned function. Labels name ops as in the partition report.
struct SegmentedBlock {
  unsigned id; ///< its position among the function's segments: execution order within one parent
  std::string target;
  bool isAccelerated;
  bool doNotMerge;
  /// Label of the op that owns the region the segment is in, and the region's number; empty at the top.
  std::string parent;
  unsigned region = 0;
  std::vector<std::string> ops, clones;
  std::vector<BorderValue> inputs, outputs;
  std::optional<int64_t> bytesIn, bytesOut;  ///< nothing if a size is not known
  std::string bytesInByDims, bytesOutByDims; ///< what is known at a call alone, as expressions; else empty
  std::optional<SegmentTime> modelled;       ///< each time it runs; nothing if no cost model is in effect
};

} // namespace inlay

#endif // INLAY_PARTITION_SEGMENTEDBLOCK_H
