// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes which engines are held off the device and when each is tried again. RecoveringProgram.cpp acts on it, and
// RecoveryThread.cpp waits for the time.

#include "Quarantine.h"

#include <algorithm>

namespace inlay::rt {

void Quarantine::fail(Entry &entry, Time now) {
  if (!entry.held)
    return hold(entry, now);
  entry.delay = std::min(std::max(entry.delay * 2, first_), longest_);
  entry.next = now + entry.delay;
}

void Quarantine::hold(Entry &entry, Time now) {
  if (entry.held)
    return;
  if (now - entry.released >= longest_) // it worked long enough: earlier failures no longer count
    entry.delay = Clock::duration(0);
  entry.held = true;
  fail(entry, now);
}

void Quarantine::release(Entry &entry, Time now) {
  entry.held = false;
  entry.released = now;
}

void Quarantine::loseDevice(bool causedByEngine, Time now) {
  if (causedByEngine && !device_.held)
    device_.delay = Clock::duration(0);
  hold(device_, now);
}

std::vector<uint32_t> Quarantine::due(Time now) const {
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < engines_.size(); ++i)
    if (engines_[i].held && engines_[i].next <= now)
      result.push_back(i);
  return result;
}

std::optional<Quarantine::Time> Quarantine::nextTry() const {
  if (device_.held)
    return device_.next;
  std::optional<Time> next;
  for (const Entry &entry : engines_)
    if (entry.held && (!next || entry.next < *next))
      next = entry.next;
  return next;
}

} // namespace inlay::rt
