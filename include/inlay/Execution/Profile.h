// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each segment of a compiled program takes in truth, beside what the cost model says.

#ifndef INLAY_EXECUTION_PROFILE_H
#define INLAY_EXECUTION_PROFILE_H

#include "inlay/Execution/Session.h"

namespace inlay {

/// Runs once to warm up, then `runs` times step by step; each step with its median time.
rt::StatusOr<std::vector<rt::StepProfile>> profile(rt::Program &program, const std::vector<rt::TensorView> &inputs,
                                                   const std::vector<rt::TensorView> &outputs, unsigned runs);

/// A segment's steps summed up, in seconds: what runs it, and the copies of its inputs and results between memories.
struct MeasuredTime {
  double run = 0, transfers = 0;
};

/// By the number of the segment in the report; steps of no segment are left out.
std::vector<MeasuredTime> sumBySegment(const std::vector<rt::StepProfile> &steps);

/// The report with `measured_ns` in each segment and the summary, and `calls` in segments that recorded calls are in.
rt::StatusOr<std::string> addMeasuredTimes(const std::string &report, const std::vector<rt::StepProfile> &steps);

/// For people: a row per segment of such a report, what the cost model says beside what was measured.
rt::StatusOr<std::string> formatMeasuredTimes(const std::string &report);

} // namespace inlay

#endif // INLAY_EXECUTION_PROFILE_H
