// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of a device's ticks to host times.

#ifndef INLAY_LIB_RUNTIME_VULKAN_ENGINE_TIMESTAMPS_H
#define INLAY_LIB_RUNTIME_VULKAN_ENGINE_TIMESTAMPS_H

#include "Runtime/Vulkan/Device/DeviceQuery.h"

#include "inlay/Runtime/Core/Device.h"

#include <optional>

namespace inlay::rt::vulkan {

struct Context;

/// The timestamps around one dispatch.
struct DispatchTicks {
  uint32_t dispatch = 0;
  uint64_t begin = 0, end = 0;
};

/// Both clocks at the same moment. `host` is on the clock of `traceTime`.
struct Calibration {
  uint64_t ticks = 0;
  int64_t host = 0;
};

/// The time from before a submission until its end was known, on the clock of `traceTime`.
struct HostWindow {
  int64_t begin = 0, end = 0;
};

/// Reads both clocks. Returns nothing if the device does not support that.
std::optional<Calibration> calibrate(const Context &context);

/// Converts the times of the dispatches of one submission, which are in order. All results lie within `window`. With
/// `calibration`, which may be taken at any time, they are exact; without it they are centered in the window.
std::vector<DispatchTime> placeOnHost(const std::vector<DispatchTicks> &ticks, const TimestampInfo &info,
                                      HostWindow window, std::optional<Calibration> calibration);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_TIMESTAMPS_H
