// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segments of each target, in execution order: a node may be in any of the segments of its target.

#ifndef INLAY_LIB_SCHEDULING_SEGMENTSBYTARGET_H
#define INLAY_LIB_SCHEDULING_SEGMENTSBYTARGET_H

#include "inlay/Scheduling/ScheduleGraph.h"

#include <algorithm>

namespace inlay {

class SegmentsByTarget {
public:
  explicit SegmentsByTarget(const std::vector<TargetIndex> &targets)
      : targets(targets), rank(targets.size()), places(kMaxTargets) {
    for (uint32_t at = 0; at < targets.size(); ++at) {
      rank[at] = static_cast<uint32_t>(places[targets[at]].size());
      places[targets[at]].push_back(at);
    }
  }

  const std::vector<uint32_t> &of(TargetIndex target) const { return places[target]; }
  /// Returns the position of a segment among the segments of its target.
  uint32_t rankOf(uint32_t segment) const { return rank[segment]; }

  /// Returns the position, among the segments of `target`, of the first one that is not before segment `at`. If two
  /// targets alternate, this is `at` itself or the next segment.
  uint32_t firstFrom(TargetIndex target, uint32_t at) const {
    for (uint32_t near = at; near < std::min<size_t>(at + 2, targets.size()); ++near)
      if (targets[near] == target)
        return rank[near];
    const std::vector<uint32_t> &segmentsOfTarget = places[target];
    return static_cast<uint32_t>(std::lower_bound(segmentsOfTarget.begin(), segmentsOfTarget.end(), at) -
                                 segmentsOfTarget.begin());
  }

private:
  const std::vector<TargetIndex> &targets;
  std::vector<uint32_t> rank;
  std::vector<std::vector<uint32_t>> places;
};

} // namespace inlay

#endif // INLAY_LIB_SCHEDULING_SEGMENTSBYTARGET_H
