// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copy elision, grouping of launches and lifetimes. All three keep the meaning of running the steps in list order.

#include "inlay/Runtime/Core/Schedule.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include <algorithm>
#include <numeric>

namespace inlay::rt {

namespace {

using StepAccesses = std::vector<std::pair<uint32_t, Access>>;

class Scheduler {
public:
  Scheduler(const Plan &plan, bool unifiedMemory) : plan_(plan), unifiedMemory_(unifiedMemory) {}
  Schedule run();

private:
  void elideCopies();
  bool canShare(uint32_t copy) const;
  void groupLaunches();
  void flush();
  bool mustFollowPending(uint32_t step) const;
  bool conflicts(uint32_t first, uint32_t second) const;
  void findLifetimes();

  uint32_t storageOf(uint32_t buffer) const { return schedule_.storage[buffer]; }

  const Plan &plan_;
  bool unifiedMemory_;
  Schedule schedule_;
  std::vector<StepAccesses> access_;
  std::vector<uint32_t> pending_; ///< launches not yet submitted
  std::vector<bool> isPending_;   ///< per step: a pending launch, or an elided copy behind one
};

} // namespace

/// Both sides may share bytes if nobody sees the difference: the target holds nothing before the copy, and after it no
/// side is written while the other is still used.
bool Scheduler::canShare(uint32_t copy) const {
  const Step &step = plan_.steps[copy];
  const Buffer &source = plan_.buffers[step.buffers[0]], &target = plan_.buffers[step.buffers[1]];
  if (source.kind != BufferKind::Temporary || target.kind != BufferKind::Temporary)
    return false;
  if (source.space != target.space && !unifiedMemory_)
    return false;
  uint32_t from = storageOf(step.buffers[0]), to = storageOf(step.buffers[1]);
  if (from == to)
    return false;
  bool used[2] = {false, false}, written[2] = {false, false};
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    for (auto [buffer, access] : access_[i]) {
      uint32_t storage = storageOf(buffer);
      if (i == copy || (storage != from && storage != to))
        continue;
      if (i < copy && storage == to)
        return false;
      if (i > copy) {
        used[storage == to] = true;
        written[storage == to] = written[storage == to] || writes(access);
      }
    }
  }
  return !(used[0] && written[1]) && !(used[1] && written[0]);
}

void Scheduler::elideCopies() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const Step &step = plan_.steps[i];
    if (step.kind != StepKind::Copy || !canShare(i))
      continue;
    schedule_.elided[i] = true;
    uint32_t from = storageOf(step.buffers[0]), to = storageOf(step.buffers[1]);
    for (uint32_t &storage : schedule_.storage)
      if (storage == to)
        storage = from;
  }
}

bool Scheduler::conflicts(uint32_t first, uint32_t second) const {
  for (auto [a, accessA] : access_[first])
    for (auto [b, accessB] : access_[second])
      if (storageOf(a) == storageOf(b) && (writes(accessA) || writes(accessB)))
        return true;
  return false;
}

bool Scheduler::mustFollowPending(uint32_t step) const {
  for (uint32_t earlier : plan_.steps[step].after)
    if (isPending_[earlier])
      return true;
  return std::any_of(pending_.begin(), pending_.end(), [&](uint32_t launch) { return conflicts(launch, step); });
}

void Scheduler::flush() {
  if (!pending_.empty())
    schedule_.actions.push_back({StepKind::LaunchEngine, std::move(pending_)});
  pending_.clear();
  std::fill(isPending_.begin(), isPending_.end(), false);
}

/// Launches are held back until a step needs them, so that independent host work doesn't split a submission.
void Scheduler::groupLaunches() {
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    StepKind kind = plan_.steps[i].kind;
    if (schedule_.elided[i]) {
      isPending_[i] = mustFollowPending(i);
    } else if (kind == StepKind::LaunchEngine) {
      pending_.push_back(i);
      isPending_[i] = true;
    } else {
      if (mustFollowPending(i))
        flush();
      schedule_.actions.push_back({kind, {i}});
    }
  }
  flush();
}

void Scheduler::findLifetimes() {
  uint32_t position = 0;
  for (const Action &action : schedule_.actions) {
    for (uint32_t step : action.steps) {
      for (auto [buffer, access] : access_[step]) {
        Lifetime &lifetime = schedule_.lifetimes[storageOf(buffer)];
        lifetime.first = std::min(lifetime.first, position);
        lifetime.last = std::max(lifetime.last, position);
      }
      ++position;
    }
  }
}

Schedule Scheduler::run() {
  schedule_.storage.resize(plan_.buffers.size());
  std::iota(schedule_.storage.begin(), schedule_.storage.end(), 0);
  schedule_.elided.resize(plan_.steps.size());
  schedule_.lifetimes.resize(plan_.buffers.size());
  schedule_.onDevice.resize(plan_.buffers.size());
  isPending_.resize(plan_.steps.size());
  for (const Step &step : plan_.steps)
    access_.push_back(stepAccess(plan_, step));
  elideCopies();
  groupLaunches();
  findLifetimes();
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].space == MemorySpace::Device)
      schedule_.onDevice[storageOf(i)] = true;
  return std::move(schedule_);
}

Schedule makeSchedule(const Plan &plan, bool unifiedMemory) { return Scheduler(plan, unifiedMemory).run(); }

std::vector<uint32_t> assignSlots(const std::vector<Lifetime> &lifetimes, const std::vector<size_t> &sizes,
                                  std::vector<size_t> &slotSizes) {
  // Largest first: the first in a slot gives it its size, so a slot never grows.
  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sizes[a] > sizes[b]; });
  std::vector<uint32_t> slots(lifetimes.size());
  std::vector<std::vector<uint32_t>> members;
  slotSizes.clear();
  for (uint32_t item : order) {
    auto overlaps = [&](uint32_t other) {
      return lifetimes[item].first <= lifetimes[other].last && lifetimes[other].first <= lifetimes[item].last;
    };
    size_t slot = 0;
    while (slot < members.size() && std::any_of(members[slot].begin(), members[slot].end(), overlaps))
      ++slot;
    if (slot == members.size()) {
      members.emplace_back();
      slotSizes.push_back(sizes[item]);
    }
    members[slot].push_back(item);
    slots[item] = static_cast<uint32_t>(slot);
  }
  return slots;
}

} // namespace inlay::rt
