// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PipelineBuilder.h"

#include "inlay/Runtime/Vulkan/Limits.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string_view>
#include <thread>

namespace inlay::rt::vulkan {

/// What threads and the owner share. Left behind in a child of fork: its locks may be held by threads that are gone.
struct PipelineBuilder::Shared {
  std::mutex mutex;
  std::condition_variable done; ///< some task is
  std::deque<Task> queue;
  std::multimap<size_t, std::weak_ptr<PipelineTask>> known; ///< by the hash of their code
  std::vector<pthread_t> threads;
  size_t running = 0; ///< threads that still take tasks
  size_t most = std::max(1u, std::thread::hardware_concurrency());
  bool stops = false;
  Counts counts;

  void work();
  void run(std::unique_lock<std::mutex> &lock, const Task &task);
  void finish(const Task &task, Status status);
  void addThread();
  Task find(const Kernel &kernel, const std::string &entry, size_t hash);
  Task take(std::deque<Task>::iterator place);
};

namespace {

/// Stops all builders at exit, when a static of this file is destroyed: before the driver's, which was loaded earlier.
class LiveBuilders {
public:
  using Stop = void (*)(void *);

  static LiveBuilders &get() {
    static LiveBuilders builders;
    return builders;
  }
  void add(void *builder, Stop stop) {
    std::lock_guard<std::mutex> lock(mutex_);
    builders_.insert({builder, stop});
  }
  void remove(void *builder, Stop stop) {
    std::lock_guard<std::mutex> lock(mutex_);
    builders_.erase({builder, stop});
  }
  ~LiveBuilders() {
    if (getpid() != process_)
      return;
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto [builder, stop] : builders_)
      stop(builder);
  }

private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::set<std::pair<void *, Stop>> builders_;
};

} // namespace

static size_t hashOf(const std::vector<uint32_t> &words) {
  return std::hash<std::string_view>()({reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t)});
}

static Status forked() {
  return {StatusCode::InvalidArgument,
          "the device was opened before this process was forked: it is its parent's alone"};
}

bool PipelineTask::fits(const Kernel &kernel, const std::string &entry) const {
  return kernel_.spirv == kernel.spirv && entry_ == entry && kernel_.bindings == kernel.bindings &&
         kernel_.kinds == kernel.kinds && kernel_.pushConstants == kernel.pushConstants &&
         requiredSubgroupSize(kernel_) == requiredSubgroupSize(kernel);
}

//===-- Threads -------------------------------------------------------------------------------------------------===//

/// The lock is held before and after, not while the driver is at it.
void PipelineBuilder::Shared::run(std::unique_lock<std::mutex> &lock, const Task &task) {
  task->state_ = PipelineTask::State::Runs;
  lock.unlock();
  StatusOr<Pipeline> pipeline = task->create_(task->kernel_, task->entry_);
  if (pipeline.isOk())
    task->pipeline_ = std::move(*pipeline);
  lock.lock();
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
    if (task.use_count() == 1) // nobody wants it any more
      continue;
    run(lock, task);
    lock.unlock(); // it may be ours alone by now, and what is in it the driver's
    task = nullptr;
    lock.lock();
  }
  --running;
}

/// For a task that came; with the lock held. Without a thread whoever waits does the work.
void PipelineBuilder::Shared::addThread() {
  if (stops || running >= most) // those that run have something to do, or else they would have ended
    return;
  if (running == 0) { // those there were don't take the lock any more
    for (pthread_t thread : threads)
      pthread_join(thread, nullptr);
    threads.clear();
  }
  auto start = [](void *self) -> void * {
    static_cast<Shared *>(self)->work();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, start, this) != 0)
    return;
  threads.push_back(thread);
  ++running;
}

/// Lets tasks end that have begun, and no others begin.
void PipelineBuilder::stop(void *pointer) {
  auto *shared = static_cast<Shared *>(pointer);
  std::vector<pthread_t> leaving;
  {
    std::lock_guard<std::mutex> lock(shared->mutex);
    shared->stops = true;
    leaving.swap(shared->threads);
    for (const Task &task : shared->queue)
      shared->finish(task, {StatusCode::Unavailable, "the process ends"});
    shared->queue.clear();
  }
  for (pthread_t thread : leaving)
    pthread_join(thread, nullptr);
}

//===-- Tasks ---------------------------------------------------------------------------------------------------===//

PipelineBuilder::PipelineBuilder(const DeviceTable &table) : table_(table), shared_(std::make_unique<Shared>()) {
  LiveBuilders::get().add(shared_.get(), stop);
}

PipelineBuilder::~PipelineBuilder() {
  if (table_.isForked()) {
    static_cast<void>(shared_.release());
    return;
  }
  LiveBuilders::get().remove(shared_.get(), stop);
  stop(shared_.get());
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
  if (table_.isForked()) {
    task->status_ = forked();
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
  shared_->known.emplace(hash, task);
  shared_->queue.push_back(task);
  shared_->addThread();
  return task;
}

void PipelineBuilder::wait(const std::vector<Task> &tasks) {
  auto isDone = [](const Task &task) { return task->isDone(); };
  if (std::all_of(tasks.begin(), tasks.end(), isDone)) // nearly always: no lock
    return;
  if (table_.isForked()) {
    for (const Task &task : tasks)
      if (!isDone(task)) {
        task->status_ = forked();
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

void PipelineBuilder::limitThreads(size_t most) {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->most = most;
}

PipelineBuilder::Counts PipelineBuilder::counts() const {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->counts;
}

} // namespace inlay::rt::vulkan
