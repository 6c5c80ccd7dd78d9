// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SubmissionPlanner: decides when launches are submitted and when the host waits for them. Launches that can go
// together form one submission, and the host works while the device does.

#ifndef INLAY_LIB_RUNTIME_CORE_SCHEDULE_SUBMISSIONS_H
#define INLAY_LIB_RUNTIME_CORE_SCHEDULE_SUBMISSIONS_H

#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Schedule.h"

#include <deque>

namespace inlay::rt {

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
      : plan_(plan), access_(access), schedule_(schedule), states_(plan.steps.size(), kUnseen),
        usedBy_(plan.buffers.size(), kDone), writtenBy_(plan.buffers.size(), kDone), staying_(plan), copying_(plan) {}

  /// Returns the actions for the steps of `range`.
  std::vector<Action> run(StepRange range);

private:
  using Actions = std::vector<Action>;
  /// States of a step. Any other value is a number that belongs to a submission: 1 for the first one. It has the steps
  /// that are pending, in flight or done, and the elided copies that wait for them. A larger number is waited for
  /// later.
  static constexpr uint32_t kDone = 0, kUnseen = UINT32_MAX;

  /// A set of steps that answers if a later step must follow any of them. `clear` takes constant time.
  class StepSet {
  public:
    explicit StepSet(const Plan &plan)
        : steps_(plan.steps.size()), used_(plan.buffers.size()), written_(plan.buffers.size()) {}
    void clear() { ++round_; }
    void add(uint32_t step, const StepAccesses &access, const std::vector<uint32_t> &storage);
    bool precedes(const std::vector<uint32_t> &after, const StepAccesses &access,
                  const std::vector<uint32_t> &storage) const;

  private:
    uint32_t round_ = 0;
    std::vector<uint32_t> steps_, used_, written_; ///< Per step and storage: the last round that has it.
  };

  bool mustFollow(uint32_t later, uint32_t earlier) const;
  bool isPending(uint32_t state) const { return state == submissions_ + 1; }
  bool isHeld(uint32_t state) const { return state != kUnseen && state > done_; }
  uint32_t findHold(uint32_t step) const;
  void hold(uint32_t step, uint32_t submission);
  bool follows(uint32_t step, const StepSet &set) const;
  void addTo(StepSet &set, uint32_t step) const;
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
  std::vector<uint32_t> states_;               ///< Per step.
  std::vector<uint32_t> usedBy_, writtenBy_;   ///< Per storage: the last submission whose steps use or write it.
  std::vector<uint32_t> pending_;              ///< Launches that are not submitted yet.
  std::deque<std::vector<uint32_t>> inFlight_; ///< Launches of each submission in flight, oldest first.
  uint32_t submissions_ = 0;                   ///< Number of submissions so far; those in flight are the last ones.
  uint32_t done_ = 0;                          ///< Number of the last submission that was waited for.
  StepSet staying_, copying_;                  ///< Of `gather`.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_SCHEDULE_SUBMISSIONS_H
