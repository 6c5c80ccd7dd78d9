// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan, or the file of one, to a program that runs: links host code, opens a device, checks, uploads.

#ifndef INLAY_RUNTIME_LOADER_LOADER_H
#define INLAY_RUNTIME_LOADER_LOADER_H

#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Recovery.h"

#include <functional>
#include <memory>
#include <string>

namespace inlay::rt {

struct OpenOptions {
  /// Selector, if an engine needs a device; empty for INLAY_DEVICE or the best that fits. "none" needs none: the host
  /// versions of segments run instead.
  std::string device;
  CallbackHandler callbacks; ///< needed if the program calls the framework
  Runners runners;           ///< needed for the foreign engines that name them
  StopCheck stop;            ///< may be empty: what stops calls
  bool recovery = true;      ///< run on the host what a device fails at, and open a lost one again (see Recovery.h)
  /// Told of that, as in RecoveryOptions; if it is empty it is said on stderr.
  std::function<void(const RecoveryNotice &)> notify;
  std::string publicKeyFile; ///< of files: as in ContainerReadOptions
};

/// A program with what it runs on.
struct LoadedProgram {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device; ///< null if no segment runs on one
  std::unique_ptr<Program> program;
  ContainerInfo info; ///< of files: what they say about themselves
};

/// Loads a plan. A device that can't run the plan's kernels isn't taken; without one that can the error says what each
/// lacks. Programs of this process that name the same device share it while one of them lives. Safe from several
/// threads. A device's pipelines are made by other threads from then on: see `Program::wait`.
StatusOr<LoadedProgram> loadPlan(std::shared_ptr<const Plan> plan, const OpenOptions &options = {});

/// Reads a container, as `readContainer` does, and loads its plan.
StatusOr<LoadedProgram> openProgram(const std::string &path, const OpenOptions &options = {});

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_LOADER_H
