// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quarantine: which engines may not use the device now, and when to try again. No clock, no threads: times are given.

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

  /// Keeps an engine from the device; one that is kept already stays as it is.
  void hold(uint32_t engine, Time now) { hold(engines_[engine], now); }
  /// Keeps all engines from the device, which is gone. `causedByEngine` says that an engine is held for it: then the
  /// device is tried after the first delay however often it failed, and the engine alone waits longer.
  void loseDevice(bool causedByEngine, Time now);

  /// The next try failed; one that isn't kept from the device is from here on.
  void fail(uint32_t engine, Time now) { fail(engines_[engine], now); }
  void failDevice(Time now) { fail(device_, now); }
  /// The next try went well: it may use the device.
  void release(uint32_t engine, Time now) { release(engines_[engine], now); }
  void releaseDevice(Time now) { release(device_, now); }

  bool holds(uint32_t engine) const { return device_.held || engines_[engine].held; }
  /// For its own sake.
  bool holdsAlone(uint32_t engine) const { return engines_[engine].held; }
  bool isDeviceLost() const { return device_.held; }
  /// Engines, kept for their own sake, to try now.
  std::vector<uint32_t> due(Time now) const;
  /// When there is something to try, if ever.
  std::optional<Time> nextTry() const;

private:
  struct Entry {
    bool held = false;
    Clock::duration delay{0}; ///< the last one
    Time next;                ///< while held: when to try
    Time released;            ///< else: since when it isn't
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
