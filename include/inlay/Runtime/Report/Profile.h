// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles: the measured time of each segment of a compiled program, beside the modeled time.

#ifndef INLAY_RUNTIME_REPORT_PROFILE_H
#define INLAY_RUNTIME_REPORT_PROFILE_H

#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Core/Trace.h"

#include <string>
#include <vector>

namespace inlay::rt {

/// Runs the program once to warm up and then `runs` times (at least once) step by step. Returns each step with its
/// median time. With `trace` it runs once more to record the trace, which adds the times of kernels, on devices too.
StatusOr<std::vector<StepProfile>> profile(Program &program, const std::vector<TensorView> &inputs,
                                           const std::vector<TensorView> &outputs, unsigned runs,
                                           Trace *trace = nullptr, Session *session = nullptr);

/// The sum over a segment's steps, in seconds: its execution, and the copies of its inputs and results between
/// memories.
struct MeasuredTime {
  double run = 0, transfers = 0;
};

/// Returns the sums indexed by the number of the segment in the report. Steps of no segment are left out.
std::vector<MeasuredTime> sumBySegment(const std::vector<StepProfile> &steps);

/// The time of the kernels that came from the same ops. Ops that were fused into one kernel have one common time.
struct OpTime {
  std::vector<std::string> ops; ///< The user's calls or the ops. A name in parentheses for a step that has neither.
  double seconds = 0;
  uint64_t runs = 0;
};

/// Returns the times, largest first.
std::vector<OpTime> sumByOp(const std::vector<StepProfile> &steps);

/// Returns the report with these additions: `measured_ns` in each segment, its `kernels` and the summary; `calls` in
/// segments with recorded calls; and `measured_ops`, the result of `sumByOp`.
StatusOr<std::string> addMeasuredTimes(const std::string &report, const std::vector<StepProfile> &steps);

/// Returns a table for users with a row per segment of such a report: modeled time beside measured time.
StatusOr<std::string> formatMeasuredTimes(const std::string &report);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_PROFILE_H
