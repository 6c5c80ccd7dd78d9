// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Has the default costs of each kind of device, converts work to seconds, and formats seconds. Partition/Cost counts
// the work and reads cost models. The costs by which kernels are chosen are in Target/Vulkan/Products.

#include "inlay/Support/TargetCosts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace inlay;

const char *inlay::stringifyWorkKind(WorkKind kind) {
  static constexpr const char *kNames[kWorkKinds] = {"matmul",    "convolution", "elementwise",
                                                     "reduction", "layout",      "other"};
  return kNames[static_cast<unsigned>(kind)];
}

double TargetCosts::estimate(const OpWork &work) const {
  if (work.isNothing)
    return 0;
  double seconds = isProduct(work.kind) ? std::max(work.flops / getThroughput(work.kind),
                                                   work.bytes / getThroughput(WorkKind::Elementwise))
                                        : work.bytes / getThroughput(work.kind);
  return opSeconds + seconds;
}

TargetCosts inlay::getDefaultCosts(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::HostCpu:
    return {{5e10, 5e10, 2e10, 5e9, 5e9, 5e9}, 1e-7, 1e-6, {}, {}};
  case DeviceKind::Framework:
    return {{5e10, 5e10, 2e10, 5e9, 1e10, 5e9}, 5e-6, 1e-5, {}, {}};
  case DeviceKind::SoftwareVulkan:
    return {{5e9, 5e9, 4e9, 4e9, 2e9, 4e9}, 2e-5, 4e-5, {1e10, 1e-6}, {1e10, 1e-6}};
  case DeviceKind::IntegratedGpu:
    return {{2e11, 2e11, 3e10, 1e10, 3e10, 1e10}, 5e-6, 4e-5, {1e10, 2e-6}, {1e10, 2e-6}};
  case DeviceKind::DiscreteGpu:
    return {{2e12, 2e12, 3e11, 1e11, 3e11, 1e11}, 4e-6, 3e-5, {1e10, 1e-5}, {1e10, 1e-5}};
  }
  return {};
}

std::string inlay::formatSeconds(double seconds) {
  static constexpr const char *kUnits[] = {"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  unsigned unit = 0;
  // Three digits. A value that rounds up to 1000 of one unit is printed as 1.00 of the next.
  for (; unit < 3 && std::abs(value) >= 999.5; ++unit)
    value /= 1000;
  int digits = unit == 0 || std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, kUnits[unit]);
  return text;
}
