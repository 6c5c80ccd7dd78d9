// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each segment of a compiled program takes in truth, beside what the cost model says.

#ifndef INLAY_EXECUTION_PROFILE_H
#define INLAY_EXECUTION_PROFILE_H

#include "inlay/Execution/Session.h"
#include "inlay/Runtime/Core/Trace.h"

namespace inlay {

/// Runs once to warm up, then `runs` times, at least once, step by step; each step with its median time. With `trace`
/// it runs once more to record it, which gives the times of kernels, those of devices too.
rt::StatusOr<std::vector<rt::StepProfile>> profile(rt::Program &program, const std::vector<rt::TensorView> &inputs,
                                                   const std::vector<rt::TensorView> &outputs, unsigned runs,
                                                   rt::Trace *trace = nullptr);

/// A segment's steps summed up, in seconds: what runs it, and the copies of its inputs and results between memories.
struct MeasuredTime {
  double run = 0, transfers = 0;
};

/// By the number of the segment in the report; steps of no segment are left out.
std::vector<MeasuredTime> sumBySegment(const std::vector<rt::StepProfile> &steps);

/// What the kernels took that came from the same ops. Ops that were fused into one kernel can't be told apart.
struct OpTime {
  std::vector<std::string> ops; ///< the user's calls, or ops; what has neither is in parentheses
  double seconds = 0;
  uint64_t runs = 0;
};

/// The largest first.
std::vector<OpTime> sumByOp(const std::vector<rt::StepProfile> &steps);

/// The report with `measured_ns` in each segment, its `kernels` and the summary, `calls` in segments that recorded
/// calls are in, and `measured_ops`, the result of `sumByOp`.
rt::StatusOr<std::string> addMeasuredTimes(const std::string &report, const std::vector<rt::StepProfile> &steps);

/// For people: a row per segment of such a report, what the cost model says beside what was measured.
rt::StatusOr<std::string> formatMeasuredTimes(const std::string &report);

} // namespace inlay

#endif // INLAY_EXECUTION_PROFILE_H
