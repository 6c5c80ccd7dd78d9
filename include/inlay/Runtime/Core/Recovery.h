// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recovery: a program that outlives its device. What the device fails to do, the host does instead.

#ifndef INLAY_RUNTIME_CORE_RECOVERY_H
#define INLAY_RUNTIME_CORE_RECOVERY_H

#include "inlay/Runtime/Core/Device.h"
#include "inlay/Runtime/Core/Program.h"

#include <chrono>

namespace inlay::rt {

/// That segments left the device, or are back there.
struct RecoveryNotice {
  std::string segment; ///< whose failure it was, several with commas between; empty if it was none's in particular
  Status failure;      ///< ok if segments run on the device again
  std::string action;  ///< what was done about it: a clause for people
};

struct RecoveryOptions {
  bool enabled = true;
  /// Opens the device anew after it was lost; called on a thread of the program's own, and waited for when the program
  /// is destroyed. Without it a lost device isn't used again.
  std::function<StatusOr<std::shared_ptr<Device>>()> reopenDevice = {};
  /// Told of each change, from the thread that it happened on, maybe from several at once. It may not destroy the
  /// program. A line on stderr if there is none.
  std::function<void(const RecoveryNotice &)> notify = {};
  /// From a failure until the device is tried again; twice as long after each failure that follows, up to `longest`.
  /// What ran on the device for `longest` is no failure that follows.
  std::chrono::milliseconds firstBackoff{1000};
  std::chrono::milliseconds longestBackoff{60000};
};

/// As `Program::load`, but a failure of the device - while its engines are loaded, recorded or run - makes the call run
/// again, from its own inputs, with the host versions of the engines that failed, or of all once the device is lost.
/// Later calls do so at once; a thread, which exists from the first failure on, tries the device again.
/// A call ends with the device's own error where an engine has no host version, and where it had called back into a
/// framework or run a foreign engine, which may have had effects. What isn't the device's failure is never tried again.
/// Until something fails a call costs what it costs otherwise: nothing is copied.
StatusOr<std::unique_ptr<Program>> loadRecovering(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
                                                  std::shared_ptr<HostSymbolResolver> host, CallbackHandler callbacks,
                                                  Runners runners, std::shared_ptr<HostKernelLoader> kernels,
                                                  RecoveryOptions options = {});

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_RECOVERY_H
