// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader: turns a plan or a saved container into a program. It links host code, opens a device, checks and uploads.

#ifndef INLAY_RUNTIME_LOADER_LOADER_H
#define INLAY_RUNTIME_LOADER_LOADER_H

#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Recovery.h"

#include <functional>
#include <memory>
#include <string>

namespace inlay::rt {

struct OpenOptions {
  /// Device selector: an index or a part of the name. Used if an engine needs a device. Empty: INLAY_DEVICE, or the
  /// best device that can run the plan. "none": the host versions of all segments run.
  std::string device;
  CallbackHandler callbacks; ///< Required if the program calls the framework.
  Runners runners;           ///< Required if the program has foreign engines.
  StopCheck stop;            ///< Stops calls when it returns true; may be empty.
  bool recovery = true;      ///< Runs segments on the host if the device fails and reopens a lost device (Recovery.h).
  /// Called for each recovery, as in RecoveryOptions. If it is empty, the notice is printed to stderr.
  std::function<void(const RecoveryNotice &)> notify;
  std::string publicKeyFile; ///< For `openProgram`: as in ContainerReadOptions.
  /// Bytes that loading may allocate for everything but the constants: reading, decoding, checking, linking, and copies
  /// of constants on the device beyond one per byte of the file. The temporaries of a call in flight may take what is
  /// left, in host memory and in device memory. 0 means the default of Budget.h for loading. With 0, `openProgram`
  /// limits temporaries in host memory, and in device memory that is host memory, to the memory of the machine.
  uint64_t memoryLimit = 0;
  /// Called before drivers are loaded or a device is opened, maybe more than once. If it fails, loading ends with its
  /// status. May be empty.
  std::function<Status()> beforeDevice;
};

/// A program with its plan and device.
struct LoadedProgram {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device; ///< Null if no segment runs on a device.
  std::unique_ptr<Program> program;
  ContainerInfo info; ///< For `openProgram`: the contents of the file besides the plan.
};

/// Loads a plan. Only a device that can run the plan's kernels is used. If there is none, the error says for each
/// device what it lacks. Programs of this process that name the same device share it while one of them lives.
/// Thread-safe. Other threads create the device's pipelines afterwards: see `Program::wait`.
StatusOr<LoadedProgram> loadPlan(std::shared_ptr<const Plan> plan, const OpenOptions &options = {});

/// Reads a container, as `readContainer` does, and loads its plan. C, C++, inlay-run and Python open files with it.
StatusOr<LoadedProgram> openProgram(const std::string &path, const OpenOptions &options = {});

} // namespace inlay::rt

#endif // INLAY_RUNTIME_LOADER_LOADER_H
