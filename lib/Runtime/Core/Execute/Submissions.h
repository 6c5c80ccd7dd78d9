// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When launches are submitted and waited for: late enough that those that can go together do, early enough that the
// host works while the device does.

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

/// Orders the steps of a plan. Launches wait for company until a step needs them or work of the host begins. Before
/// that, later launches are moved in front of it, with the copies that they need, where nothing in between keeps them,
/// so that the device is busy while the host works. None is pending or in flight over a step with bodies or the end of
/// one. The device is taken to run what is submitted in order.
class SubmissionPlanner {
public:
  /// `schedule` has its elided copies and storage. All are kept by reference.
  SubmissionPlanner(const Plan &plan, const std::vector<StepAccesses> &access, const Schedule &schedule)
      : plan_(plan), access_(access), schedule_(schedule), states_(plan.steps.size(), kUnseen) {}

  std::vector<Action> run(StepRange range);

private:
  using Actions = std::vector<Action>;
  /// States of a step; below these the number of a submission that is in flight.
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
  std::vector<uint32_t> states_;                ///< per step
  std::vector<uint32_t> held_;                  ///< steps pending or in flight, elided copies too
  std::vector<uint32_t> pending_;               ///< launches
  std::vector<std::vector<uint32_t>> inFlight_; ///< launches of each submission that isn't waited for yet
  uint32_t submissions_ = 0;                    ///< so far; those in flight are the last ones
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_SUBMISSIONS_H
