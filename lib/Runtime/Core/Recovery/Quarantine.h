// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quarantine: the engines that may not use the device now, and when to try them again. It has no clock and no threads;
// callers pass the time.

#ifndef INLAY_LIB_RUNTIME_CORE_RECOVERY_QUARANTINE_H
#define INLAY_LIB_RUNTIME_CORE_RECOVERY_QUARANTINE_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace inlay::rt {

class Quarantine {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  Quarantine(size_t engines, Clock::duration first, Clock::duration longest)
      : first_(first), longest_(longest), engines_(engines) {}

  /// Puts an engine into quarantine. Does nothing if it is there already.
  void hold(uint32_t engine, Time now) { hold(engines_[engine], now); }
  /// Puts the lost device, and thus all engines, into quarantine. `causedByEngine` is true if an engine is in
  /// quarantine as the cause. The device is then tried again after the first delay, regardless of its earlier failures,
  /// and only the delay of the engine grows.
  void loseDevice(bool causedByEngine, Time now);

  /// Records that the next attempt failed, which doubles the delay. An engine outside of quarantine is put into it.
  void fail(uint32_t engine, Time now) { fail(engines_[engine], now); }
  void failDevice(Time now) { fail(device_, now); }
  /// Records that the next attempt succeeded, which ends the quarantine.
  void release(uint32_t engine, Time now) { release(engines_[engine], now); }
  void releaseDevice(Time now) { release(device_, now); }

  /// Returns true if the engine may not use the device.
  bool holds(uint32_t engine) const { return device_.held || engines_[engine].held; }
  /// Returns true if the engine itself is in quarantine, whatever the state of the device.
  bool holdsAlone(uint32_t engine) const { return engines_[engine].held; }
  bool isDeviceLost() const { return device_.held; }
  /// Returns the engines in quarantine whose next attempt is due.
  std::vector<uint32_t> due(Time now) const;
  /// Returns the time of the next attempt, if there is one.
  std::optional<Time> nextTry() const;

private:
  struct Entry {
    bool held = false;
    Clock::duration delay{0}; ///< The last delay.
    Time next;                ///< While held: time of the next attempt.
    Time released;            ///< While not held: time at which the quarantine ended.
  };

  void hold(Entry &entry, Time now);
  void fail(Entry &entry, Time now);
  static void release(Entry &entry, Time now);

  Clock::duration first_, longest_;
  Entry device_;
  std::vector<Entry> engines_;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_RECOVERY_QUARANTINE_H
