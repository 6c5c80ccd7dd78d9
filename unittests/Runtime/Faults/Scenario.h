// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One life of a program over a device that may fail: opened, loaded, called with several sizes, given new constants,
// profiled, destroyed. Says what went wrong beside errors that it may end in.

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

  /// Runs it all; the first thing that is wrong, or nothing.
  std::string run();

  /// None by default: then calls come in one order, and engines are submitted in parts as their pipelines are made.
  size_t pipelineThreads = 0;
  bool hangs = false; ///< a submission never ends: what it uses may be kept

  size_t errors() const { return errors_; }      ///< calls and loads that ended in a typed error
  size_t recoveries() const { return notices_; } ///< changes of where segments run

private:
  StatusOr<std::shared_ptr<Device>> open();
  StatusOr<std::unique_ptr<Program>> load(std::shared_ptr<Device> device);
  void life();
  void call(Program &program, size_t lanes, bool profiled = false);
  void replace(Program &program, float weight);
  /// Notes an error of what may fail, or a failure of the test where it may not.
  void judge(const char *what, const Status &status);
  void fail(std::string what);

  vulkan::VulkanInstance &instance_;
  const FaultProgram &program_;
  float weight_ = 1;
  bool weightIsKnown_ = true; ///< no replacement ended in an error
  std::atomic<size_t> errors_{0}, notices_{0};
  std::mutex mutex_;
  std::string failure_; ///< guarded by `mutex_`
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_SCENARIO_H
