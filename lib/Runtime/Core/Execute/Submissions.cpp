// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Submissions.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>

namespace inlay::rt {

/// Returns true if `later` must run after `earlier`: it names it in `after`, or they access the same bytes and one of
/// them writes. `earlier` is before `later` in the list.
bool SubmissionPlanner::mustFollow(uint32_t later, uint32_t earlier) const {
  const std::vector<uint32_t> &after = plan_.steps[later].after;
  if (std::find(after.begin(), after.end(), earlier) != after.end())
    return true;
  for (auto [a, accessA] : access_[earlier])
    for (auto [b, accessB] : access_[later])
      if (schedule_.storage[a] == schedule_.storage[b] && (writes(accessA) || writes(accessB)))
        return true;
  return false;
}

/// Returns what a step must wait for: `kPending`, the number of the last submission that it must wait for, or `kDone`
/// if it can run now.
uint32_t SubmissionPlanner::findHold(uint32_t step) const {
  uint32_t hold = kDone;
  for (uint32_t earlier : held_)
    if (mustFollow(step, earlier)) {
      if (states_[earlier] == kPending)
        return kPending;
      hold = hold == kDone ? states_[earlier] : std::max(hold, states_[earlier]);
    }
  return hold;
}

/// Sets the state of an elided copy: it is done when the steps that it would wait for are done.
void SubmissionPlanner::settle(uint32_t elided) {
  states_[elided] = findHold(elided);
  if (states_[elided] != kDone)
    held_.push_back(elided);
}

void SubmissionPlanner::submit(Actions &actions) {
  if (pending_.empty())
    return;
  for (uint32_t step : held_)
    if (states_[step] == kPending)
      states_[step] = submissions_;
  actions.push_back({StepKind::LaunchEngine, pending_});
  inFlight_.push_back(std::move(pending_));
  pending_.clear();
  ++submissions_;
}

void SubmissionPlanner::waitUntil(uint32_t submission, Actions &actions) {
  Action wait{StepKind::LaunchEngine, {}};
  wait.isWait = true;
  while (submissions_ - inFlight_.size() <= submission) {
    wait.steps.insert(wait.steps.end(), inFlight_.front().begin(), inFlight_.front().end());
    inFlight_.erase(inFlight_.begin());
  }
  for (uint32_t step : held_)
    if (states_[step] <= submission)
      states_[step] = kDone;
  held_.erase(std::remove_if(held_.begin(), held_.end(), [&](uint32_t step) { return states_[step] == kDone; }),
              held_.end());
  actions.push_back(std::move(wait));
}

/// Submits the launches that a host step depends on and waits for them. Lets the device work while the host step runs.
void SubmissionPlanner::waitFor(uint32_t step, StepRange range, Actions &actions) {
  bool isCopy = plan_.steps[step].kind == StepKind::Copy;
  uint32_t hold = findHold(step);
  if (hold == kPending) {
    if (isCopy) // a copy is short; launches after it may join to save a submission
      gather(step, range, actions);
    submit(actions);
    hold = findHold(step);
  }
  if (!isCopy) {
    gather(step, range, actions);
    submit(actions);
  }
  if (hold != kDone)
    waitUntil(hold, actions);
}

void SubmissionPlanner::waitForAll(Actions &actions) {
  submit(actions);
  if (!inFlight_.empty())
    waitUntil(submissions_ - 1, actions);
}

void SubmissionPlanner::perform(uint32_t step, Actions &actions) {
  actions.push_back({plan_.steps[step].kind, {step}});
  states_[step] = kDone;
}

/// Moves later launches that don't depend on `work`, a step of the host that is about to begin, to the pending ones.
void SubmissionPlanner::gather(uint32_t work, StepRange range, Actions &actions) {
  constexpr uint32_t kMaxDistance = 64; // in steps; each is compared with all that stay
  std::vector<uint32_t> staying = {work}, copies;
  for (uint32_t i = work + 1; i < std::min(range.end, work + kMaxDistance); ++i) {
    const Step &step = plan_.steps[i];
    if (!step.bodies.empty())
      return;
    auto isFollowed = [&](uint32_t earlier) { return mustFollow(i, earlier); };
    bool isFree = states_[i] == kUnseen && std::none_of(staying.begin(), staying.end(), isFollowed);
    if (!isFree) {
      if (states_[i] == kUnseen)
        staying.push_back(i);
    } else if (schedule_.elided[i] && std::none_of(copies.begin(), copies.end(), isFollowed)) {
      settle(i);
    } else if (step.kind == StepKind::LaunchEngine) {
      for (uint32_t copy : copies)
        if (states_[copy] == kUnseen && mustFollow(i, copy))
          perform(copy, actions);
      pending_.push_back(i);
      held_.push_back(i);
      states_[i] = kPending;
    } else if (step.kind == StepKind::Copy && findHold(i) == kDone &&
               std::none_of(copies.begin(), copies.end(), isFollowed)) {
      copies.push_back(i); // performed if a launch needs it
    } else {
      staying.push_back(i);
    }
  }
}

std::vector<Action> SubmissionPlanner::run(StepRange range) {
  std::vector<Action> actions;
  for (uint32_t i = range.first; i < range.end; ++i) {
    const Step &step = plan_.steps[i];
    if (states_[i] != kUnseen)
      continue;
    if (schedule_.elided[i]) {
      settle(i);
    } else if (step.kind == StepKind::LaunchEngine) {
      pending_.push_back(i);
      held_.push_back(i);
      states_[i] = kPending;
    } else if (!step.bodies.empty()) {
      waitForAll(actions);
      Action action{step.kind, {i}};
      states_[i] = kDone;
      for (uint32_t count : step.bodies) {
        action.bodies.push_back(run({i + 1, i + 1 + count}));
        i += count;
      }
      actions.push_back(std::move(action));
    } else {
      waitFor(i, range, actions);
      perform(i, actions);
    }
  }
  waitForAll(actions);
  return actions;
}

} // namespace inlay::rt
