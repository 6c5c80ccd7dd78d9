// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of a segment, for reports and callers of `Partitioning.h`. Plain data, no IR.

#ifndef INLAY_PARTITION_SEGMENTEDBLOCK_H
#define INLAY_PARTITION_SEGMENTEDBLOCK_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inlay {

/// A value at the border of a segment.
struct BorderValue {
  std::string type;
  /// Label of the op that makes it, with `:number` for results after the first, or `arg#number` for an argument.
  std::string from;
  std::optional<int64_t> bytes;    ///< Absent if the size is unknown.
  std::optional<unsigned> segment; ///< The segment that makes it. Absent for arguments.
  std::vector<std::string>
      dims;                ///< Dimensions of a tensor whose sizes are only known at a call, as expressions of symbols.
  std::string bytesByDims; ///< The bytes of such a tensor as an expression, or empty if unknown.
};

/// The modeled time of a segment, in seconds.
struct SegmentTime {
  double compute = 0, launch = 0, transferIn = 0, transferOut = 0;
  double total() const { return compute + launch + transferIn + transferOut; }
};

/// A segment of a partitioned function. Labels name ops as in the partition report.
struct SegmentedBlock {
  unsigned id; ///< Position among the segments of the function, which are in execution order within one parent.
  std::string target;
  bool isAccelerated;
  bool doNotMerge;
  /// Label of the op that owns the region of the segment, and the number of the region. The label is empty outside of
  /// regions.
  std::string parent;
  unsigned region = 0;
  std::vector<std::string> ops, clones;
  std::vector<BorderValue> inputs, outputs;
  std::optional<int64_t> bytesIn, bytesOut;  ///< Absent if a size is unknown.
  std::string bytesInByDims, bytesOutByDims; ///< The bytes as expressions if they are only known at a call, else empty.
  std::optional<SegmentTime> modeled;        ///< Time of one execution. Absent if no cost model is in effect.
};

} // namespace inlay

#endif // INLAY_PARTITION_SEGMENTEDBLOCK_H
