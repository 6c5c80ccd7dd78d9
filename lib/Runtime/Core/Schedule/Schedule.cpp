// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copy elision, order of steps, and live ranges. All three preserve the semantics of running the steps in list order,
// with the bodies of loops repeated.

#include "ImportCandidates.h"
#include "Submissions.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

namespace inlay::rt {

namespace {

/// The first and the last step that use a storage, and the last that writes it. Elided copies count.
struct Uses {
  uint32_t first = UINT32_MAX, last = 0, lastWrite = 0;

  void add(const Uses &other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    lastWrite = std::max(lastWrite, other.lastWrite);
  }
};

class Scheduler {
public:
  Scheduler(const Plan &plan, bool unifiedMemory) : plan_(plan), unifiedMemory_(unifiedMemory) {}
  Schedule run();

private:
  void findLoops();
  void elideCopies();
  bool canShare(uint32_t copy);
  uint32_t findStorage(uint32_t buffer);
  void findLifetimes(const std::vector<Action> &actions, uint32_t &position);
  void findUses();
  void use(uint32_t step, uint32_t position);
  void keepInLoop(const Action &loop, Lifetime range);
  void findStateUses();

  /// Returns the steps in the bodies of a step.
  StepRange bodiesOf(uint32_t step) const {
    return {step + 1, step + static_cast<uint32_t>(countSteps(plan_.steps[step]))};
  }
  uint32_t storageOf(uint32_t buffer) const { return schedule_.storage[buffer]; }

  const Plan &plan_;
  bool unifiedMemory_;
  Schedule schedule_;
  std::vector<StepAccesses> access_;
  std::vector<StepRange> loops_;   ///< Per step: the body of the innermost loop around it, or the whole list.
  uint32_t inFlight_ = UINT32_MAX; ///< Position of the oldest submission in flight.
  std::vector<Uses> uses_;         ///< Per storage.
  std::vector<uint32_t> seenIn_;   ///< Per storage: the start of the last loop body that `keepInLoop` saw using it.
};

} // namespace

static bool isLoop(StepKind kind) { return kind == StepKind::While || kind == StepKind::For; }

void Scheduler::findLoops() {
  uint32_t count = static_cast<uint32_t>(plan_.steps.size());
  loops_.assign(count, {0, count});
  for (uint32_t i = 0; i < count; ++i) { // inner loops follow outer ones and overwrite their entries
    if (!isLoop(plan_.steps[i].kind))
      continue;
    StepRange body = bodiesOf(i);
    std::fill(loops_.begin() + body.first, loops_.begin() + body.end, body);
  }
}

/// Returns true if source and target of a copy may share bytes: the target holds nothing before the copy, and after it
/// neither side is written while the other is still used. In a loop this is checked for one iteration, if both sides
/// are used only in the loop's body. No step reads data that may not have been written, so no data passes to the next
/// iteration through them.
bool Scheduler::canShare(uint32_t copy) {
  const Step &step = plan_.steps[copy];
  const Buffer &source = plan_.buffers[step.buffers[0]], &target = plan_.buffers[step.buffers[1]];
  if (source.kind != BufferKind::Temporary || target.kind != BufferKind::Temporary)
    return false;
  if (source.space != target.space && !unifiedMemory_)
    return false;
  uint32_t from = findStorage(step.buffers[0]), to = findStorage(step.buffers[1]);
  if (from == to)
    return false;
  const Uses &ofSource = uses_[from], &ofTarget = uses_[to];
  StepRange loop = loops_[copy];
  if (!loop.contains(std::min(ofSource.first, ofTarget.first)) ||
      !loop.contains(std::max(ofSource.last, ofTarget.last)))
    return false;
  if (ofTarget.first < copy)
    return false;
  return !(ofSource.last > copy && ofTarget.lastWrite > copy) && !(ofTarget.last > copy && ofSource.lastWrite > copy);
}

/// Returns the storage of a buffer. Shortens the path to it.
uint32_t Scheduler::findStorage(uint32_t buffer) {
  std::vector<uint32_t> &storage = schedule_.storage;
  while (storage[buffer] != storage[storage[buffer]])
    storage[buffer] = storage[storage[buffer]];
  return storage[buffer];
}

void Scheduler::elideCopies() {
  findUses();
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    if (step.kind != StepKind::Copy || !canShare(i))
      continue;
    schedule_.elided[i] = true;
    uint32_t from = findStorage(step.buffers[0]), to = findStorage(step.buffers[1]);
    schedule_.storage[to] = from;
    uses_[from].add(uses_[to]);
  }
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    schedule_.storage[i] = findStorage(i);
}

void Scheduler::findUses() {
  uses_.resize(plan_.buffers.size());
  for (uint32_t i = 0; i < plan_.steps.size(); ++i)
    for (auto [buffer, access] : access_[i])
      uses_[buffer].add({i, i, writes(access) ? i : 0});
}

/// Extends the live ranges of the buffers that a step uses. Memory that the host uses while submissions are in flight
/// must not share bytes with anything that they use. Launches may share bytes: the device runs them in order.
void Scheduler::use(uint32_t step, uint32_t position) {
  bool isHost = plan_.steps[step].kind != StepKind::LaunchEngine;
  for (auto [buffer, access] : access_[step]) {
    uint32_t storage = storageOf(buffer);
    Lifetime &lifetime = schedule_.lifetimes[storage];
    uint32_t first = isHost && schedule_.onDevice[storage] ? std::min(position, inFlight_) : position;
    lifetime.first = std::min(lifetime.first, first);
    lifetime.last = std::max(lifetime.last, position);
  }
}

/// Makes buffers that are used inside a loop and outside of it live during the whole loop. Buffers that an iteration
/// writes before it reads them keep their range within the body.
void Scheduler::keepInLoop(const Action &loop, Lifetime range) {
  StepRange body = bodiesOf(loop.steps.front());
  for (uint32_t i = body.first; i < body.end; ++i) {
    for (auto [buffer, access] : access_[i]) {
      uint32_t storage = storageOf(buffer);
      bool staysInside = uses_[storage].first >= body.first && uses_[storage].last < body.end;
      bool isFirst = seenIn_[storage] != body.first; // the bodies of two loops start at different steps
      seenIn_[storage] = body.first;
      if (!isFirst || (staysInside && access == Access::Write)) // written before it is read
        continue;
      Lifetime &lifetime = schedule_.lifetimes[storage];
      lifetime.first = std::min(lifetime.first, range.first);
      lifetime.last = std::max(lifetime.last, range.last);
    }
  }
}

void Scheduler::findLifetimes(const std::vector<Action> &actions, uint32_t &position) {
  std::deque<std::pair<uint32_t, uint32_t>> submissions; ///< Last step and position of each submission in flight.
  for (const Action &action : actions) {
    uint32_t first = position;
    if (action.isWait) {
      for (bool isLast = false; !isLast; submissions.pop_front())
        isLast = submissions.front().first == action.steps.back();
      inFlight_ = submissions.empty() ? UINT32_MAX : submissions.front().second;
      continue;
    }
    if (action.kind == StepKind::LaunchEngine) {
      submissions.emplace_back(action.steps.back(), position);
      inFlight_ = submissions.front().second;
    }
    for (uint32_t step : action.steps)
      use(step, position++);
    for (const std::vector<Action> &body : action.bodies) {
      findLifetimes(body, position);
      use(action.steps.front(), position++); // the step reads its condition or range after each iteration
    }
    if (isLoop(action.kind))
      keepInLoop(action, {first, position - 1});
  }
}

void Scheduler::findStateUses() {
  schedule_.writesState.resize(plan_.steps.size());
  schedule_.stateLaunches.resize(plan_.states.size());
  for (uint32_t i = 0; i < plan_.steps.size(); ++i)
    for (auto [buffer, access] : access_[i]) {
      if (plan_.buffers[buffer].kind != BufferKind::State)
        continue;
      if (writes(access))
        schedule_.writesState[i] = true;
      std::vector<uint32_t> &launches = schedule_.stateLaunches[plan_.buffers[buffer].index];
      if (plan_.steps[i].kind == StepKind::LaunchEngine && (launches.empty() || launches.back() != i))
        launches.push_back(i);
    }
}

Schedule Scheduler::run() {
  schedule_.storage.resize(plan_.buffers.size());
  std::iota(schedule_.storage.begin(), schedule_.storage.end(), 0);
  schedule_.elided.resize(plan_.steps.size());
  schedule_.lifetimes.resize(plan_.buffers.size());
  schedule_.onDevice.resize(plan_.buffers.size());
  seenIn_.resize(plan_.buffers.size());
  access_ = stepAccesses(plan_);
  findLoops();
  elideCopies();
  schedule_.actions = SubmissionPlanner(plan_, access_, schedule_).run({0, static_cast<uint32_t>(plan_.steps.size())});
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].space == MemorySpace::Device)
      schedule_.onDevice[storageOf(i)] = true;
  uint32_t position = 0;
  findLifetimes(schedule_.actions, position);
  schedule_.importCandidates = findImportCandidates(plan_, access_, schedule_);
  findStateUses();
  return std::move(schedule_);
}

Schedule makeSchedule(const Plan &plan, bool unifiedMemory) { return Scheduler(plan, unifiedMemory).run(); }

std::vector<uint32_t> assignSlots(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &sizes,
                                  std::vector<size_t> &slotSizes) {
  // Largest first: the first member determines a slot's size, so slots never grow.
  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sizes[a] > sizes[b]; });
  constexpr size_t kMaxSlots = 512; // more slots are not searched, so that the time stays in proportion to the items
  std::vector<uint32_t> slots(lifetimes.size());
  std::vector<std::map<uint32_t, uint32_t>> members; // the disjoint lifetimes in each slot: last by first
  slotSizes.clear();
  for (uint32_t item : order) {
    const Lifetime &lifetime = lifetimes[item];
    auto isFree = [&](const std::map<uint32_t, uint32_t> &slot) {
      auto after = slot.upper_bound(lifetime.last);
      return after == slot.begin() || std::prev(after)->second < lifetime.first;
    };
    auto searched = members.begin() + static_cast<ptrdiff_t>(std::min(members.size(), kMaxSlots));
    auto slot = std::find_if(members.begin(), searched, isFree);
    if (slot == searched) {
      slot = members.emplace(members.end());
      slotSizes.push_back(sizes[item]);
    }
    slot->emplace(lifetime.first, lifetime.last);
    slots[item] = static_cast<uint32_t>(slot - members.begin());
  }
  return slots;
}

} // namespace inlay::rt
