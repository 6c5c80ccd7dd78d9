// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each segment of a compiled program takes in truth, beside what the cost model says.

#ifndef INLAY_RUNTIME_REPORT_PROFILE_H
#define INLAY_RUNTIME_REPORT_PROFILE_H

#include "inlay/Runtime/Core/Program.h"
#include "inlay/Runtime/Core/Trace.h"

#include <string>
#include <vector>

namespace inlay::rt {

/// Runs once to warm up, then `runs` times, at least once, step by step; each step with its median time. With `trace`
/// it runs once more to record it, which gives the times of kernels, those of devices too.
StatusOr<std::vector<StepProfile>> profile(Program &program, const std::vector<TensorView> &inputs,
                                           const std::vector<TensorView> &outputs, unsigned runs,
                                           Trace *trace = nullptr);

/// A segment's steps summed up, in seconds: what runs it, and the copies of its inputs and results between memories.
struct MeasuredTime {
  double run = 0, transfers = 0;
};

/// By the number of the segment in the report; steps of no segment are left out.
std::vector<MeasuredTime> sumBySegment(const std::vector<StepProfile> &steps);

/// What the kernels took that came from the same ops. Ops that were fused into one kernel can't be told apart.
struct OpTime {
  std::vector<std::string> ops; ///< the user's calls, or ops; what has neither is in parentheses
  double seconds = 0;
  uint64_t runs = 0;
};

/// The largest first.
std::vector<OpTime> sumByOp(const std::vector<StepProfile> &steps);

/// The report with `measured_ns` in each segment, its `kernels` and the summary, `calls` in segments that recorded
/// calls are in, and `measured_ops`, the result of `sumByOp`.
StatusOr<std::string> addMeasuredTimes(const std::string &report, const std::vector<StepProfile> &steps);

/// For people: a row per segment of such a report, what the cost model says beside what was measured.
StatusOr<std::string> formatMeasuredTimes(const std::string &report);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_REPORT_PROFILE_H
