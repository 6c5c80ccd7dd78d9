// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SubmissionPlanner: decides when launches are submitted and when the host waits for them. Launches that can go
// together form one submission, and the host works while the device does.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_SUBMISSIONS_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_SUBMISSIONS_H

#include "inlay/Runtime/Core/Schedule.h"

namespace inlay::rt {

using StepAccesses = std::vector<std::pair<uint32_t, Access>>;

/// Consecutive steps of the list.
struct StepRange {
  uint32_t first = 0, end = 0;
  bool contains(uint32_t step) const { return first <= step && step < end; }
};

/// Orders the steps of a plan. Launches are collected until a step needs their results or the host starts a longer
/// step. Before such a step, later launches that don't depend on it are moved in front of it, with the copies that they
/// need, so that the device is busy while the host works. No launch is pending or in flight when a step with bodies
/// begins or a body ends. The device runs submissions in order.
class SubmissionPlanner {
public:
  /// `schedule` must have its elided copies and storage. All arguments are kept by reference.
  SubmissionPlanner(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule)
      : plan_(plan), access_(access), schedule_(schedule), states_(plan.steps.size(), kUnseen) {}

  /// Returns the actions for the steps of `range`.
  std::vector<Action> run(StepRange range);

private:
  using Actions = std::vector<Action>;
  /// States of a step. Any smaller value is the number of a submission in flight.
  static constexpr uint32_t kDone = UINT32_MAX, kPending = UINT32_MAX - 1, kUnseen = UINT32_MAX - 2;

  bool mustFollow(uint32_t later, uint32_t earlier) const;
  uint32_t findHold(uint32_t step) const;
  void settle(uint32_t elided);
  void submit(Actions &actions);
  void waitUntil(uint32_t submission, Actions &actions);
  void waitFor(uint32_t step, StepRange range, Actions &actions);
  void waitForAll(Actions &actions);
  void gather(uint32_t work, StepRange range, Actions &actions);
  void perform(uint32_t step, Actions &actions);

  const Plan &plan_;
  const std::vector<StepAccesses> &access_;
  const Schedule &schedule_;
  std::vector<uint32_t> states_;                ///< Per step.
  std::vector<uint32_t> held_;                  ///< Steps pending or in flight, including elided copies.
  std::vector<uint32_t> pending_;               ///< Launches that are not submitted yet.
  std::vector<std::vector<uint32_t>> inFlight_; ///< Launches of each submission in flight, oldest first.
  uint32_t submissions_ = 0;                    ///< Number of submissions so far; those in flight are the last ones.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_SUBMISSIONS_H
