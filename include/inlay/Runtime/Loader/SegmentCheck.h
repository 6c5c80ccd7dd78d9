// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segment check: compares what segments compute on a device with what their host versions compute from the same
// inputs. It runs a probed plan. Around each launch, the plan copies inputs and results to the host, runs the host
// version and compares.

#ifndef INLAY_RUNTIME_LOADER_SEGMENTCHECK_H
#define INLAY_RUNTIME_LOADER_SEGMENTCHECK_H

#include "inlay/Runtime/Loader/Difference.h"
#include "inlay/Runtime/Loader/Loader.h"

#include <string>
#include <vector>

namespace inlay::rt {

/// The distance of a device's result from the host's, over all runs of the segment in a call.
struct SegmentDifference : Difference {
  std::string step;     ///< Name of the segment.
  int32_t segment = -1; ///< Same as `Step::segment`.
  std::string result;   ///< Name of the buffer.
  ElementType element = ElementType::F32;
  uint64_t runs = 0;
};

/// Returns the largest acceptable `relative`: sums in another order differ by rounding. 0 for integers and bool.
double tolerance(ElementType element);

struct ProbedPlan {
  Plan plan;
  uint32_t firstProbe = 0; ///< Callbacks from this number on compare the first half of their inputs with the second.
  /// Per such callback, one entry for each of its comparisons.
  std::vector<std::vector<SegmentDifference>> probes;
  std::vector<std::string> unprobed; ///< Segments on a device that have no host version.
};

/// Returns a checked plan with probes around each launch.
ProbedPlan probeSegments(const Plan &plan);

struct SegmentCheck {
  std::vector<SegmentDifference> differences; ///< In the order of the program.
  std::vector<std::string> unchecked;         ///< Segments on a device that have no host version.
};

/// Runs the plan once with probes, on the device of `opened`.
StatusOr<SegmentCheck> checkSegments(const LoadedProgram &opened, const OpenOptions &options,
                                     const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_SEGMENTCHECK_H
