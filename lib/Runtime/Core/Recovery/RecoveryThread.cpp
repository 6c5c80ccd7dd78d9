// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The return to the device, on a thread that is created at the first failure.

#include "RecoveringProgram.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/HostVersions.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

void RecoveringProgram::startThread() {
  if (hasThread_)
    return;
  auto run = [](void *self) -> void * {
    static_cast<RecoveringProgram *>(self)->watch();
    return nullptr;
  };
  hasThread_ = pthread_create(&thread_, nullptr, run, this) == 0; // without a thread the host keeps running segments
}

void RecoveringProgram::watch() {
  constexpr std::chrono::milliseconds kPause{10}; // until there is memory again
  std::unique_lock<std::mutex> lock(state_);
  while (!stops_) {
    Status status = guard([&] {
      watchOnce(lock);
      return Status::ok();
    });
    if (!lock.owns_lock())
      lock.lock();
    if (!status.isOk() && !stops_)
      changed_->wait_for(lock, kPause);
  }
}

/// Destroys garbage, waits for the next attempt, or makes it.
void RecoveringProgram::watchOnce(std::unique_lock<std::mutex> &lock) {
  if (!garbage_.empty()) {
    std::vector<std::shared_ptr<void>> garbage = std::move(garbage_);
    garbage_.clear();
    lock.unlock();
    garbage.clear();
    return;
  }
  std::optional<Quarantine::Time> next = quarantine_.nextTry();
  if (!next || (quarantine_.isDeviceLost() && !options_.reopenDevice)) {
    changed_->wait(lock);
  } else if (*next > Quarantine::Clock::now()) {
    changed_->wait_until(lock, *next);
  } else {
    std::vector<RecoveryNotice> notices;
    tryDevice(lock, notices);
    lock.unlock();
    notify(notices);
  }
}

/// Opens a replacement of the lost device. The device counts as lost until a version runs on it.
bool RecoveringProgram::reopen(std::unique_lock<std::mutex> &lock) {
  lock.unlock();
  StatusOr<std::shared_ptr<Device>> device = options_.reopenDevice();
  lock.lock();
  if (!device.isOk() || !*device)
    return false;
  base_.device = std::move(*device);
  return true;
}

/// Handles the loss of the device during an attempt to use it again.
void RecoveringProgram::loseAgain() {
  Quarantine::Time now = Quarantine::Clock::now();
  if (quarantine_.isDeviceLost())
    quarantine_.failDevice(now);
  else
    quarantine_.loseDevice(/*causedByEngine=*/false, now);
  dropDevice();
}

/// Loads the missing engines that are due or not in quarantine themselves. Returns the engines of `due` that could be
/// loaded. Unlocks `lock` meanwhile, so that calls can continue.
std::vector<uint32_t> RecoveringProgram::loadEngines(std::unique_lock<std::mutex> &lock,
                                                     const std::vector<uint32_t> &due) {
  std::shared_ptr<Device> device = base_.device;
  std::vector<std::shared_ptr<DeviceEngine>> engines = base_.engines;
  engines.resize(plan_->engines.size());
  auto isDue = [&](uint32_t engine) { return std::find(due.begin(), due.end(), engine) != due.end(); };
  std::vector<uint32_t> missing;
  for (uint32_t engine : launched_)
    if (!engines[engine] && (isDue(engine) || !quarantine_.holdsAlone(engine)))
      missing.push_back(engine);
  std::vector<Status> failures(plan_->engines.size());
  lock.unlock();
  for (uint32_t engine : missing) {
    StatusOr<std::shared_ptr<DeviceEngine>> loaded = device->load(plan_->engines[engine]);
    failures[engine] = loaded.isOk() ? (*loaded)->wait() : loaded.status();
    if (failures[engine].isOk())
      engines[engine] = std::move(*loaded);
  }
  lock.lock();
  if (base_.device != device) // the device was lost in the meantime
    return {};
  if (std::any_of(failures.begin(), failures.end(),
                  [](const Status &status) { return status.code() == StatusCode::DeviceLost; })) {
    loseAgain();
    return {};
  }
  base_.engines = engines;
  for (uint32_t engine : missing)
    if (!failures[engine].isOk() && hasHostVersion(*plan_, engine))
      quarantine_.fail(engine, Quarantine::Clock::now());
  std::vector<uint32_t> loaded;
  for (uint32_t engine : due)
    if (engines[engine])
      loaded.push_back(engine);
  return loaded;
}

/// Moves due engines back to the device. Engines that fail wait longer.
void RecoveringProgram::tryDevice(std::unique_lock<std::mutex> &lock, std::vector<RecoveryNotice> &notices) {
  bool wasLost = quarantine_.isDeviceLost();
  if (wasLost && !reopen(lock))
    return quarantine_.failDevice(Quarantine::Clock::now());
  std::vector<uint32_t> released = loadEngines(lock, quarantine_.due(Quarantine::Clock::now()));
  if (!base_.device) // lost again; the next attempt is already scheduled
    return;
  std::vector<uint32_t> moved;
  for (uint32_t engine : launched_)
    if (quarantine_.holdsAlone(engine) && std::find(released.begin(), released.end(), engine) == released.end())
      moved.push_back(engine);
  Failure failure;
  bool isBetter = wasLost || !released.empty();
  StatusOr<Version> version = isBetter ? build(moved, failure) : StatusOr<Version>(Version());
  Quarantine::Time now = Quarantine::Clock::now();
  if (!version.isOk()) {
    for (uint32_t engine : released)
      quarantine_.fail(engine, now);
    if (wasLost || version.status().code() == StatusCode::DeviceLost)
      loseAgain();
    return;
  }
  if (!isBetter)
    return;
  for (uint32_t engine : released)
    quarantine_.release(engine, now);
  if (wasLost)
    quarantine_.releaseDevice(now);
  install(std::move(*version));
  if (moved.size() == launched_.size())
    return;
  std::string who = moved.empty() ? "all segments run" : fmt::format("all segments but '{}' run", nameSegments(moved));
  notices.push_back({"", Status::ok(), fmt::format("{} on device '{}' again", who, base_.device->deviceName())});
}

} // namespace inlay::rt
