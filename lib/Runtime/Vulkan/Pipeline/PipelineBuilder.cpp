// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the creation of pipelines on threads, once per kernel, and stops at exit and fork. PipelineCache.cpp keeps
// the driver's results in a file.

#include "PipelineBuilder.h"

#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Vulkan/Limits.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <thread>
#include <utility>

namespace inlay::rt::vulkan {

/// The data that the owner and the threads share. It is leaked in a child of fork, where its locks may stay locked.
struct PipelineBuilder::Shared {
  std::mutex mutex;
  std::condition_variable done; ///< Notified when a task is done.
  std::deque<Task> queue;
  std::multimap<size_t, std::weak_ptr<PipelineTask>> known; ///< By the hash of their code.
  std::vector<pthread_t> threads;
  size_t running = 0; ///< Number of threads that still take tasks.
  size_t maxThreads = std::max(1u, std::thread::hardware_concurrency());
  bool stops = false;
  bool hasCreated = false; ///< True if the driver has created a pipeline.
  Counts counts;

  void work();
  void run(std::unique_lock<std::mutex> &lock, const Task &task);
  void finish(const Task &task, Status status);
  void addThread();
  Task find(const Kernel &kernel, const std::string &entry, size_t hash);
  Task take(std::deque<Task>::iterator place);
};

static size_t hashOf(const std::vector<uint32_t> &words) {
  return std::hash<std::string_view>()({reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t)});
}

bool PipelineTask::fits(const Kernel &kernel, const std::string &entry) const {
  return kernel_.spirv == kernel.spirv && entry_ == entry && kernel_.bindings == kernel.bindings &&
         kernel_.kinds == kernel.kinds && kernel_.pushConstants == kernel.pushConstants &&
         requiredSubgroupSize(kernel_) == requiredSubgroupSize(kernel);
}

//===-- Threads -------------------------------------------------------------------------------------------------===//

/// Runs a task. The lock is held before and after, but not while the driver works.
void PipelineBuilder::Shared::run(std::unique_lock<std::mutex> &lock, const Task &task) {
  task->state_ = PipelineTask::State::Runs;
  lock.unlock();
  StatusOr<Pipeline> pipeline = guard([&]() -> StatusOr<Pipeline> {
    DriverUse use;
    return use ? task->create_(task->kernel_, task->entry_) : processExits();
  });
  if (pipeline.isOk())
    task->pipeline_ = std::move(*pipeline);
  lock.lock();
  if (!std::exchange(hasCreated, true))
    precedeExitHandlers();
  finish(task, pipeline.status());
}

void PipelineBuilder::Shared::finish(const Task &task, Status status) {
  task->status_ = std::move(status);
  task->state_ = PipelineTask::State::Done;
  done.notify_all();
}

PipelineBuilder::Task PipelineBuilder::Shared::take(std::deque<Task>::iterator place) {
  Task task = std::move(*place);
  queue.erase(place);
  return task;
}

void PipelineBuilder::Shared::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!queue.empty() && !stops) {
    Task task = take(queue.begin());
    if (task.use_count() == 1) // no caller needs it any more
      continue;
    run(lock, task);
    lock.unlock(); // this may be the last reference, and its destructor calls the driver
    task = nullptr;
    lock.lock();
  }
  --running;
}

/// Starts a thread for a new task if needed. The lock must be held. Without threads, callers that wait do the work.
void PipelineBuilder::Shared::addThread() {
  if (stops || running >= maxThreads) // running threads have work, or they would have ended
    return;
  if (running == 0) { // earlier threads no longer take the lock
    for (pthread_t thread : threads)
      pthread_join(thread, nullptr);
    threads.clear();
  }
  auto start = [](void *self) -> void * {
    static_cast<Shared *>(self)->work();
    return nullptr;
  };
  threads.reserve(threads.size() + 1);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, start, this) != 0)
    return;
  threads.push_back(thread);
  ++running;
}

/// Waits for tasks that have begun and cancels all others.
void PipelineBuilder::stop(void *pointer, ExitStep::Deadline) {
  auto *shared = static_cast<Shared *>(pointer);
  std::vector<pthread_t> stopping;
  {
    std::lock_guard<std::mutex> lock(shared->mutex);
    shared->stops = true;
    stopping.swap(shared->threads);
    for (const Task &task : shared->queue)
      shared->finish(task, processExits());
    shared->queue.clear();
  }
  for (pthread_t thread : stopping)
    pthread_join(thread, nullptr);
}

//===-- Tasks ---------------------------------------------------------------------------------------------------===//

PipelineBuilder::PipelineBuilder(const DeviceTable &table) : table_(table), shared_(std::make_unique<Shared>()) {
  addExitStep({ExitStep::Phase::Cancel, stop, shared_.get()});
}

PipelineBuilder::~PipelineBuilder() {
  if (table_.isForked()) {
    static_cast<void>(shared_.release());
    return;
  }
  removeExitStep({ExitStep::Phase::Cancel, stop, shared_.get()});
  stop(shared_.get(), {});
}

PipelineBuilder::Task PipelineBuilder::Shared::find(const Kernel &kernel, const std::string &entry, size_t hash) {
  auto [begin, end] = known.equal_range(hash);
  for (auto next = begin; next != end;) {
    Task task = next->second.lock();
    if (task && task->status().isOk() && task->fits(kernel, entry))
      return task;
    next = task ? std::next(next) : known.erase(next);
  }
  return nullptr;
}

PipelineBuilder::Task PipelineBuilder::start(const Kernel &kernel, const std::string &entry,
                                             PipelineTask::Create create) {
  auto task = std::make_shared<PipelineTask>(kernel, entry, std::move(create));
  if (Status status = table_.checkProcess(); !status.isOk()) {
    task->status_ = std::move(status);
    task->state_ = PipelineTask::State::Done;
    return task;
  }
  size_t hash = hashOf(kernel.spirv);
  std::lock_guard<std::mutex> lock(shared_->mutex);
  if (Task same = shared_->find(kernel, entry, hash)) {
    ++shared_->counts.shared;
    return same;
  }
  ++shared_->counts.started;
  shared_->queue.push_back(task); // first: a task that others know must be in the queue until it runs
  shared_->known.emplace(hash, task);
  shared_->addThread();
  return task;
}

void PipelineBuilder::wait(const std::vector<Task> &tasks) {
  auto isDone = [](const Task &task) { return task->isDone(); };
  if (std::all_of(tasks.begin(), tasks.end(), isDone)) // the common case needs no lock
    return;
  if (Status status = table_.checkProcess(); !status.isOk()) {
    for (const Task &task : tasks)
      if (!isDone(task)) {
        task->status_ = status;
        task->state_ = PipelineTask::State::Done;
      }
    return;
  }
  std::unique_lock<std::mutex> lock(shared_->mutex);
  for (const Task &task : tasks)
    if (task->state_ == PipelineTask::State::Queued)
      shared_->run(lock, shared_->take(std::find(shared_->queue.begin(), shared_->queue.end(), task)));
  shared_->done.wait(lock, [&] { return std::all_of(tasks.begin(), tasks.end(), isDone); });
}

void PipelineBuilder::limitThreads(size_t count) {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->maxThreads = count;
}

PipelineBuilder::Counts PipelineBuilder::counts() const {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->counts;
}

} // namespace inlay::rt::vulkan
