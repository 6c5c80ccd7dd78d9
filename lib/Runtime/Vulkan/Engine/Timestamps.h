// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the ticks of a device's clock to times of the host's.

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

/// Both clocks at one moment; `host` as `traceTime`.
struct Calibration {
  uint64_t ticks = 0;
  int64_t host = 0;
};

/// From before a submission until its end was known, as `traceTime`.
struct HostWindow {
  int64_t begin = 0, end = 0;
};

/// Reads both clocks; nothing if the device can't.
std::optional<Calibration> calibrate(const Context &context);

/// The times of dispatches of one submission, in order, within `window`: where `calibration`, taken at any time, puts
/// them, or midway without one.
std::vector<DispatchTime> placeOnHost(const std::vector<DispatchTicks> &ticks, const TimestampInfo &info,
                                      HostWindow window, std::optional<Calibration> calibration);

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_ENGINE_TIMESTAMPS_H
