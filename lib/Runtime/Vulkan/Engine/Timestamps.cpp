// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts ticks of the device to host times by calibration. Command.cpp records the timestamps.

#include "Timestamps.h"
#include "Context.h"

#include <algorithm>
#include <cmath>

namespace inlay::rt::vulkan {

std::optional<Calibration> calibrate(const Context &context) {
  if (!context.info.timestamps.canCalibrate || !context.vk.vkGetCalibratedTimestampsEXT)
    return std::nullopt;
  VkCalibratedTimestampInfoEXT infos[2] = {{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT},
                                           {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT}};
  infos[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  infos[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  uint64_t values[2], deviation = 0;
  if (context.vk.vkGetCalibratedTimestampsEXT(context.device, 2, infos, values, &deviation) != VK_SUCCESS)
    return std::nullopt;
  return Calibration{values[0], static_cast<int64_t>(values[1])};
}

/// Returns the nanoseconds between two tick counts that are less than half of the counter's range apart. The valid bits
/// may have wrapped around.
static int64_t measure(uint64_t from, uint64_t to, const TimestampInfo &info) {
  uint32_t unused = 64 - std::clamp<uint32_t>(info.validBits, 1, 64);
  int64_t ticks = static_cast<int64_t>((to - from) << unused) >> unused;
  return std::llround(static_cast<double>(ticks) * info.period);
}

std::vector<DispatchTime> placeOnHost(const std::vector<DispatchTicks> &ticks, const TimestampInfo &info,
                                      HostWindow window, std::optional<Calibration> calibration) {
  if (ticks.empty())
    return {};
  uint64_t origin = ticks.front().begin;
  int64_t length = measure(origin, ticks.back().end, info);
  // The earliest start of the first dispatch is the submission. At the latest start the last dispatch ends with the
  // wait.
  int64_t first = window.begin, last = std::max(window.begin, window.end - length);
  int64_t start = first + (last - first) / 2;
  if (calibration)
    start = std::clamp(calibration->host + measure(calibration->ticks, origin, info), first, last);
  std::vector<DispatchTime> times;
  for (const DispatchTicks &tick : ticks) {
    int64_t begin = std::clamp(start + measure(origin, tick.begin, info), window.begin, window.end);
    int64_t end = std::clamp(start + measure(origin, tick.end, info), begin, window.end);
    times.push_back({tick.dispatch, begin, end});
  }
  return times;
}

} // namespace inlay::rt::vulkan
