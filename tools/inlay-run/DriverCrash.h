// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DriverCrash: a message for crashes in Vulkan drivers.

#ifndef INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H
#define INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H

namespace inlay::tools {

/// During its lifetime, a crash prints a message that a Vulkan driver may be the cause, what the tool was doing, and
/// which drivers the environment names. The process then ends by the signal as usual.
class DriverCrash {
public:
  explicit DriverCrash(const char *doing);
  ~DriverCrash();
  DriverCrash(const DriverCrash &) = delete;
  DriverCrash &operator=(const DriverCrash &) = delete;
};

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H
