// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words for a driver that takes the process down with it.

#ifndef INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H
#define INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H

namespace inlay::tools {

/// While it lives, a crash says on standard error that a Vulkan driver may be at fault, what was being done, and which
/// drivers the environment names; then the process ends as it would have.
class DriverCrash {
public:
  explicit DriverCrash(const char *doing);
  ~DriverCrash();
  DriverCrash(const DriverCrash &) = delete;
  DriverCrash &operator=(const DriverCrash &) = delete;
};

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_DRIVERCRASH_H
