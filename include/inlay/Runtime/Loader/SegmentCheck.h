// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Do the segments on a device compute what the host computes from the same inputs? The question is put as a plan:
// around each launch stand steps that bring its inputs and results to the host, run its host version, and compare.

#ifndef INLAY_RUNTIME_LOADER_SEGMENTCHECK_H
#define INLAY_RUNTIME_LOADER_SEGMENTCHECK_H

#include "inlay/Runtime/Loader/Difference.h"
#include "inlay/Runtime/Loader/Loader.h"

#include <string>
#include <vector>

namespace inlay::rt {

/// How far a result of the device is from that of the host, over all runs of the segment in a call.
struct SegmentDifference : Difference {
  std::string step;     ///< the segment's name
  int32_t segment = -1; ///< as in Step
  std::string result;   ///< name of the buffer
  ElementType element = ElementType::F32;
  uint64_t runs = 0;
};

/// How large `relative` may be: sums in another order differ by rounding. 0 for integers and bool.
double tolerance(ElementType element);

struct ProbedPlan {
  Plan plan;
  uint32_t firstProbe = 0; ///< callbacks from here on compare: the first half of their inputs with the second
  /// Per such callback, one for each of its comparisons.
  std::vector<std::vector<SegmentDifference>> probes;
  std::vector<std::string> unprobed; ///< segments on a device that have no host version
};

/// For a checked plan.
ProbedPlan probeSegments(const Plan &plan);

struct SegmentCheck {
  std::vector<SegmentDifference> differences; ///< in the order of the program
  std::vector<std::string> unchecked;         ///< segments on a device that have no host version
};

/// Runs the plan once with probes, on the device that `opened` has.
StatusOr<SegmentCheck> checkSegments(const LoadedProgram &opened, const OpenOptions &options,
                                     const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_SEGMENTCHECK_H
