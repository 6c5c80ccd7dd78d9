// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to devices when the process exits. Drivers and layers destroy their data then, while threads may still
// call them, and while threads of their own may still work.

#ifndef INLAY_LIB_RUNTIME_VULKAN_DEVICE_PROCESSEXIT_H
#define INLAY_LIB_RUNTIME_VULKAN_DEVICE_PROCESSEXIT_H

#include "inlay/Runtime/Core/Status.h"

#include <chrono>

namespace inlay::rt::vulkan {

/// Marks that this thread calls the driver during the object's lifetime. The exit of the process waits for it, for a
/// limited time. Once the exit has begun, a new object converts to false, also inside of an older one, and the thread
/// must make no new calls to the driver.
class DriverUse {
public:
  DriverUse();
  ~DriverUse();
  DriverUse(const DriverUse &) = delete;
  DriverUse &operator=(const DriverUse &) = delete;

  explicit operator bool() const { return isAllowed_; }

private:
  bool isAllowed_;
};

/// Returns true if the process is exiting and calls to the driver are no longer allowed.
bool isExiting();

/// Returns the error of a call that isn't made because the process exits. Its code is Stopped, so it starts no
/// recovery.
Status processExits();

/// Waits until the exit has drained the devices, at most as long as the exit waits for them. Returns immediately in a
/// child of fork and on the thread that exits. The thread must have no DriverUse, which the exit waits for.
void waitForDrain();

/// A step of the exit. It is called once, on the exiting thread, before data of the driver is destroyed. A step of
/// `Cancel` ends work in progress, and waits for kernels that the driver is compiling. A step of `Drain` waits until a
/// device has nothing to do, at most until the deadline. Before the deadline, no thread calls the driver then.
struct ExitStep {
  using Deadline = std::chrono::steady_clock::time_point;
  enum class Phase { Cancel, Drain };

  Phase phase;
  void (*run)(void *object, Deadline deadline);
  void *object;
};

/// Adds and removes a step. Removing a step that doesn't exist has no effect. Thread-safe.
void addExitStep(const ExitStep &step);
void removeExitStep(const ExitStep &step);

/// Makes the steps run before all exit handlers that exist so far. Drivers add handlers when they first create a device
/// or a pipeline, or run commands, so it is called after each of these events.
void precedeExitHandlers();

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_DEVICE_PROCESSEXIT_H
