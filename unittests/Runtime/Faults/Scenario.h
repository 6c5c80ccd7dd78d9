// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The life of a program on a device that may fail: opened, loaded, called with several sizes, given new constants,
// profiled, destroyed. It reports what went wrong except for errors that are allowed.

#ifndef INLAY_UNITTESTS_RUNTIME_FAULTS_SCENARIO_H
#define INLAY_UNITTESTS_RUNTIME_FAULTS_SCENARIO_H

#include "Faults.h"
#include "Programs.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <atomic>
#include <mutex>

namespace inlay::rt::test {

class Scenario {
public:
  Scenario(vulkan::VulkanInstance &instance, const FaultProgram &program) : instance_(instance), program_(program) {}

  /// Runs everything. Returns the first fault, or an empty string.
  std::string run();

  /// 0 by default. Calls then have a fixed order, and engines are submitted in parts as their pipelines are created.
  size_t pipelineThreads = 0;
  bool hangs = false; ///< True if a submission never ends; its memory may then be kept.

  size_t errors() const { return errors_; }      ///< Number of calls and loads that ended in an error with a code.
  size_t recoveries() const { return notices_; } ///< Number of moves of segments between device and host.

private:
  StatusOr<std::shared_ptr<Device>> open();
  StatusOr<std::unique_ptr<Program>> load(std::shared_ptr<Device> device);
  void life();
  void call(Program &program, size_t lanes, bool profiled = false);
  void replace(Program &program, float weight);
  /// Counts an allowed error, or records a failure of the test.
  void judge(const char *what, const Status &status);
  void fail(std::string what);

  vulkan::VulkanInstance &instance_;
  const FaultProgram &program_;
  float weight_ = 1;
  bool weightIsKnown_ = true; ///< True if no replacement ended in an error.
  std::atomic<size_t> errors_{0}, notices_{0};
  std::mutex mutex_;
  std::string failure_; ///< Guarded by `mutex_`.
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_SCENARIO_H
