// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides when launches are submitted and waited for, so that the host and the device work at the same time.
// Schedule.cpp decides the order of steps, and Runtime/Vulkan/Engine/HazardTracker.cpp the barriers inside an
// engine.

#include "Submissions.h"

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

void SubmissionPlanner::StepSet::add(uint32_t step, const StepAccesses &access, const std::vector<uint32_t> &storage) {
  steps_[step] = round_;
  for (auto [buffer, kind] : access) {
    used_[storage[buffer]] = round_;
    if (writes(kind))
      written_[storage[buffer]] = round_;
  }
}

bool SubmissionPlanner::StepSet::precedes(const std::vector<uint32_t> &after, const StepAccesses &access,
                                          const std::vector<uint32_t> &storage) const {
  return std::any_of(after.begin(), after.end(), [&](uint32_t step) { return steps_[step] == round_; }) ||
         std::any_of(access.begin(), access.end(), [&](auto entry) {
           return (writes(entry.second) ? used_ : written_)[storage[entry.first]] == round_;
         });
}

bool SubmissionPlanner::follows(uint32_t step, const StepSet &set) const {
  return set.precedes(plan_.steps[step].after, access_[step], schedule_.storage);
}

void SubmissionPlanner::addTo(StepSet &set, uint32_t step) const { set.add(step, access_[step], schedule_.storage); }

/// Returns the number of the last submission that a step must wait for, or `kDone` if it can run now.
uint32_t SubmissionPlanner::findHold(uint32_t step) const {
  uint32_t last = kDone;
  for (uint32_t earlier : plan_.steps[step].after)
    if (isHeld(states_[earlier]))
      last = std::max(last, states_[earlier]);
  for (auto [buffer, access] : access_[step]) {
    uint32_t storage = schedule_.storage[buffer];
    last = std::max(last, writes(access) ? usedBy_[storage] : writtenBy_[storage]);
  }
  return last > done_ ? last : kDone;
}

/// Notes that a step is done when the submission is.
void SubmissionPlanner::hold(uint32_t step, uint32_t submission) {
  states_[step] = submission;
  for (auto [buffer, access] : access_[step]) {
    uint32_t storage = schedule_.storage[buffer];
    usedBy_[storage] = std::max(usedBy_[storage], submission);
    if (writes(access))
      writtenBy_[storage] = std::max(writtenBy_[storage], submission);
  }
}

/// Sets the state of an elided copy: it is done when the steps that it would wait for are done.
void SubmissionPlanner::settle(uint32_t elided) {
  states_[elided] = kDone;
  if (uint32_t submission = findHold(elided); submission != kDone)
    hold(elided, submission);
}

void SubmissionPlanner::submit(Actions &actions) {
  if (pending_.empty())
    return;
  actions.push_back({StepKind::LaunchEngine, pending_});
  inFlight_.push_back(std::move(pending_));
  pending_.clear();
  ++submissions_;
}

void SubmissionPlanner::waitUntil(uint32_t submission, Actions &actions) {
  Action wait{StepKind::LaunchEngine, {}};
  wait.isWait = true;
  for (; done_ < submission; ++done_) {
    wait.steps.insert(wait.steps.end(), inFlight_.front().begin(), inFlight_.front().end());
    inFlight_.pop_front();
  }
  actions.push_back(std::move(wait));
}

/// Submits the launches that a host step depends on and waits for them. Lets the device work while the host step runs.
void SubmissionPlanner::waitFor(uint32_t step, StepRange range, Actions &actions) {
  bool isCopy = plan_.steps[step].kind == StepKind::Copy;
  uint32_t hold = findHold(step);
  if (isPending(hold)) {
    if (isCopy) // a copy is short; launches after it may join to save a submission
      gather(step, range, actions);
    submit(actions);
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
    waitUntil(submissions_, actions);
}

void SubmissionPlanner::perform(uint32_t step, Actions &actions) {
  actions.push_back({plan_.steps[step].kind, {step}});
  states_[step] = kDone;
}

/// Moves later launches that don't depend on `work`, a step of the host that is about to begin, to the pending ones.
void SubmissionPlanner::gather(uint32_t work, StepRange range, Actions &actions) {
  constexpr uint32_t kMaxDistance = 64; // in steps; a step may be visited once for each of so many before it
  std::vector<uint32_t> copies;
  staying_.clear();
  copying_.clear();
  addTo(staying_, work);
  uint32_t end = work + std::min(range.end - work, kMaxDistance);
  for (uint32_t i = work + 1; i < end; ++i) {
    const Step &step = plan_.steps[i];
    if (!step.bodies.empty())
      return;
    bool isFree = states_[i] == kUnseen && !follows(i, staying_);
    if (!isFree) {
      if (states_[i] == kUnseen)
        addTo(staying_, i);
    } else if (schedule_.elided[i] && !follows(i, copying_)) {
      settle(i);
    } else if (step.kind == StepKind::LaunchEngine) {
      for (uint32_t copy : copies)
        if (states_[copy] == kUnseen && mustFollow(i, copy))
          perform(copy, actions);
      pending_.push_back(i);
      hold(i, submissions_ + 1);
    } else if (step.kind == StepKind::Copy && findHold(i) == kDone && !follows(i, copying_)) {
      copies.push_back(i); // performed if a launch needs it
      addTo(copying_, i);
    } else {
      addTo(staying_, i);
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
      hold(i, submissions_ + 1);
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
