// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PipelineBuilder: makes the pipelines of a device on threads of its own, each kernel once. Drivers take up to tens of
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

/// A pipeline that is made, or will be.
class PipelineTask {
public:
  using Create = std::function<StatusOr<Pipeline>(const Kernel &kernel, const std::string &entry)>;

  PipelineTask(const Kernel &kernel, std::string entry, Create create)
      : kernel_(kernel), entry_(std::move(entry)), create_(std::move(create)) {}

  bool isDone() const { return state_ == State::Done; }
  /// Why it failed; ok as long as it isn't done.
  Status status() const { return isDone() ? status_ : Status::ok(); }
  /// Once the builder has waited for it, if it hasn't failed.
  const Pipeline &pipeline() const { return pipeline_; }

private:
  friend class PipelineBuilder;
  enum class State { Queued, Runs, Done };

  /// Whether it makes the pipeline of this kernel too: all that `create` reads is the same.
  bool fits(const Kernel &kernel, const std::string &entry) const;

  const Kernel kernel_;
  const std::string entry_;
  const Create create_;
  std::atomic<State> state_{State::Queued}; ///< changed with the builder's mutex held
  Status status_;                           ///< once done
  Pipeline pipeline_;
};

/// Thread-safe. Threads come with the first task, as many as there are processors at most, and go with the last one.
/// Tasks begin in the order they came in, which is that of dispatches: the device can begin with the first ones while
/// others are being made. At exit of the process threads are stopped before the driver goes. In a child of fork, which
/// has none of them, all that wasn't done is an error.
class PipelineBuilder {
public:
  using Task = std::shared_ptr<PipelineTask>;

  explicit PipelineBuilder(const DeviceTable &table);
  ~PipelineBuilder();

  /// Has `create` called, on any thread, with a copy of the kernel, as long as somebody has the task. If there is one
  /// for the same code that hasn't failed, it is returned instead.
  Task start(const Kernel &kernel, const std::string &entry, PipelineTask::Create create);

  /// Waits until these are done. Makes those itself that haven't begun.
  void wait(const std::vector<Task> &tasks);

  /// From now on at most so many threads: with none, whoever waits makes what hasn't begun, one after the other.
  void limitThreads(size_t most);

  /// Tasks that were started, and what was returned instead of another, for tests.
  struct Counts {
    uint64_t started = 0, shared = 0;
  };
  Counts counts() const;

private:
  struct Shared;
  static void stop(void *shared);

  const DeviceTable &table_;
  std::unique_ptr<Shared> shared_;
};

} // namespace inlay::rt::vulkan

#endif // INLAY_LIB_RUNTIME_VULKAN_PIPELINE_PIPELINEBUILDER_H
