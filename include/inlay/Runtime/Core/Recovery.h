// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recovery: a program that survives the loss of its device. The host runs the segments that failed on the device.

#ifndef INLAY_RUNTIME_CORE_RECOVERY_H
#define INLAY_RUNTIME_CORE_RECOVERY_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Program.h"

#include <chrono>

namespace inlay::rt {

/// Notice that segments moved from the device to the host, or back.
struct RecoveryNotice {
  std::string segment; ///< Segments that failed, separated by commas; empty if the failure belongs to no segment.
  Status failure;      ///< Ok if segments run on the device again.
  std::string action;  ///< The reaction of the program: a clause for users.
};

struct RecoveryOptions {
  bool enabled = true;
  /// Opens the device again after it was lost. Called on a thread of the program, whose destructor waits for the call.
  /// If it is empty, a lost device is not used again.
  std::function<StatusOr<std::shared_ptr<Device>>()> reopenDevice = {};
  /// Called for each change on the thread on which it happened, possibly from several threads at a time. It must not
  /// destroy the program. If it is empty, the notice is printed to stderr.
  std::function<void(const RecoveryNotice &)> notify = {};
  /// Time from a failure until the device is tried again. It doubles after each following failure, up to
  /// `longestBackoff`. A failure after the device has worked for `longestBackoff` counts as a first failure.
  std::chrono::milliseconds firstBackoff{1000};
  std::chrono::milliseconds longestBackoff{60000};
};

/// Loads a plan as `Program::load` does. If the device fails while engines are loaded, recorded or run, the call runs
/// again from its inputs, with the host versions of the engines that failed, or of all engines if the device is lost.
/// Later calls use the host versions immediately. A thread, created at the first failure, tries the device again.
///
/// A call returns the device's error if an engine has no host version. It also does so if the call has already called a
/// framework or run a foreign engine, because these may have had effects. Failures that the device did not cause are
/// never retried. Until a failure happens, calls cost the same as without recovery: nothing is copied.
StatusOr<std::unique_ptr<Program>> loadRecovering(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                  std::shared_ptr<HostSymbolResolver> host, CallbackHandler callbacks,
                                                  Runners runners, std::shared_ptr<HostKernelLoader> kernels,
                                                  RecoveryOptions options = {});

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_RECOVERY_H
