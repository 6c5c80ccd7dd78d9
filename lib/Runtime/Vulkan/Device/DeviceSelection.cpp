// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks devices and finds one by index or name. DeviceQuery.cpp reads their properties.

#include "inlay/Runtime/Vulkan/DeviceSelection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace inlay::rt::vulkan {

DeviceCaps DeviceCaps::computeDefault() {
  DeviceCaps caps;
  caps.name = "default";
  caps.driver = "Vulkan 1.3 required limits";
  caps.apiVersion = (1u << 22) | (3u << 12);
  caps.subgroupSize = caps.minSubgroupSize = caps.maxSubgroupSize = 1;
  caps.maxWorkgroupCount = {65535, 65535, 65535};
  caps.maxWorkgroupSize = {128, 128, 64};
  caps.maxWorkgroupInvocations = 128;
  caps.maxWorkgroupMemory = 16384;
  caps.maxPushConstantBytes = 128;
  caps.maxStorageBuffersPerStage = 4;
  caps.maxStorageBufferRange = uint64_t(1) << 27;
  caps.maxAllocationBytes = uint64_t(1) << 30;
  return caps;
}

static int rank(const DeviceCaps &caps) {
  if (caps.discrete)
    return 0;
  return caps.software ? 2 : 1;
}

static std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

static std::string describe(const std::vector<DeviceCaps> &devices) {
  std::string text;
  for (size_t i = 0; i < devices.size(); ++i)
    text += fmt::format("{}{}: {}{}", i ? "; " : "", i, devices[i].name,
                        devices[i].unusable.empty() ? "" : " (unusable: " + devices[i].unusable + ")");
  return text;
}

/// Returns the best usable device whose name contains `part`; `devices.size()` if there is none.
static size_t findBest(const std::vector<DeviceCaps> &devices, const std::string &part) {
  size_t best = devices.size();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].unusable.empty() || lower(devices[i].name).find(lower(part)) == std::string::npos)
      continue;
    if (best == devices.size() || rank(devices[i]) < rank(devices[best]))
      best = i;
  }
  return best;
}

static bool isIndex(const std::string &text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

static StatusOr<size_t> chooseNamed(const std::vector<DeviceCaps> &devices, const std::string &selector,
                                    const std::string &source) {
  if (isIndex(selector)) {
    size_t index = static_cast<size_t>(std::stoul(selector));
    if (index < devices.size() && !devices[index].unusable.empty())
      return Status(StatusCode::Unavailable, fmt::format("device {}{} ({}) can't be used: {}", index, source,
                                                         devices[index].name, devices[index].unusable));
    if (index < devices.size())
      return index;
  }
  size_t found = findBest(devices, selector);
  if (found < devices.size())
    return found;
  if (isIndex(selector))
    return Status(StatusCode::NotFound, fmt::format("device {}{} is out of range: there are {} devices ({})", selector,
                                                    source, devices.size(), describe(devices)));
  return Status(StatusCode::NotFound, fmt::format("no usable device has '{}'{} in its name; there are {} devices ({})",
                                                  selector, source, devices.size(), describe(devices)));
}

bool wantsNoDevice(const std::string &selector) {
  const char *environment = std::getenv("INLAY_DEVICE");
  return (selector.empty() && environment ? environment : selector) == "none";
}

StatusOr<size_t> chooseDevice(const std::vector<DeviceCaps> &devices, const std::string &selector,
                              const std::string &environment) {
  if (devices.empty())
    return Status(StatusCode::Unavailable, "there is no Vulkan device");
  if (!selector.empty())
    return chooseNamed(devices, selector, "");
  if (!environment.empty())
    return chooseNamed(devices, environment, " (from INLAY_DEVICE)");
  size_t best = findBest(devices, "");
  if (best < devices.size())
    return best;
  return Status(StatusCode::Unavailable, fmt::format("no usable Vulkan device among {}", describe(devices)));
}

} // namespace inlay::rt::vulkan
