// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PipelineBuilder: creates the pipelines of a device on separate threads, once per kernel. Drivers take up to tens of
// milliseconds for one.

#ifndef INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINEBUILDER_H
#define INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINEBUILDER_H

#include "Runtime/Vulkan/Device/Handles.h"

#include "inlay/Runtime/Core/Plan.h"

#include <functional>
#include <memory>
#include <string>

namespace inlay::rt::vulkan {

/// One kernel ready to dispatch.
struct Pipeline {
  SetLayoutHandle setLayout;
  PipelineLayoutHandle layout;
  PipelineHandle pipeline;
};

/// The creation of a pipeline, finished or not.
class PipelineTask {
public:
  using Create = std::function<StatusOr<Pipeline>(const Kernel &kernel, const std::string &entry)>;

  PipelineTask(const Kernel &kernel, std::string entry, Create create)
      : kernel_(kernel), entry_(std::move(entry)), create_(std::move(create)) {}

  bool isDone() const { return state_ == State::Done; }
  /// Returns the error if it failed; ok as long as it isn't done.
  Status status() const { return isDone() ? status_ : Status::ok(); }
  /// Returns the pipeline. Valid after the builder has waited for the task, if it hasn't failed.
  const Pipeline &pipeline() const { return pipeline_; }

private:
  friend class PipelineBuilder;
  enum class State { Queued, Runs, Done };

  /// Returns true if the task's pipeline can be used for this kernel: everything that `create` reads is equal.
  bool fits(const Kernel &kernel, const std::string &entry) const;

  const Kernel kernel_;
  const std::string entry_;
  const Create create_;
  std::atomic<State> state_{State::Queued}; ///< Changed with the builder's mutex held.
  Status status_;                           ///< Set when it is done.
  Pipeline pipeline_;
};

/// Creates pipelines. Thread-safe. Threads start with the first task, at most as many as there are processors, and end
/// with the last task. Tasks begin in the order of `start`, which is that of dispatches, so the device can run the
/// first dispatches while other pipelines are being created. When the process exits, the threads are stopped before the
/// driver is unloaded. In a child of fork, which has no threads, unfinished tasks fail.
class PipelineBuilder {
public:
  using Task = std::shared_ptr<PipelineTask>;

  explicit PipelineBuilder(const DeviceTable &table);
  ~PipelineBuilder();

  /// Starts a task. `create` is called on any thread with a copy of the kernel, as long as a caller holds the task. If
  /// a task for the same code exists and hasn't failed, it is returned instead.
  Task start(const Kernel &kernel, const std::string &entry, PipelineTask::Create create);

  /// Waits until these tasks are done. Tasks that haven't begun run on the calling thread.
  void wait(const std::vector<Task> &tasks);

  /// Limits the number of threads from now on. With 0, tasks run one after the other on threads that wait for them.
  void limitThreads(size_t count);

  /// Number of tasks that were started and of calls that returned an existing task, for tests.
  struct Counts {
    uint64_t started = 0, shared = 0;
  };
  Counts counts() const;

private:
  struct Shared;
  static void stop(void *shared, ExitStep::Deadline);

  const DeviceTable &table_;
  std::unique_ptr<Shared> shared_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINEBUILDER_H
