// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a loop in chunks on threads, and decides how many threads there are (`INLAY_NUM_THREADS`, `setThreads`).
// Kernels/TaskSizes.h sizes the tasks. Runtime/Vulkan/Pipeline/PipelineBuilder.cpp has threads of its own.

#include "ThreadPool.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/LazyStatic.h"
#include "inlay/Runtime/Core/Trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <sched.h>
#include <string_view>

namespace inlay::rt::host {

/// Bit fields of `state_`.
static constexpr uint64_t kJoined = 0xffff;
static constexpr uint64_t kOpen = 1 << 16;
static constexpr uint64_t kGeneration = 1 << 17;

/// Time for which a worker polls for the next loop before it sleeps. It is longer than the gap between kernels.
static constexpr std::chrono::microseconds kSpinTime{50};

static thread_local bool insideLoop = false;

static void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

static int64_t countUsableCpus() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof(usable), &usable) != 0)
    return 1;
  return std::clamp<int64_t>(CPU_COUNT(&usable), 1, ThreadPool::kMaxThreads);
}

static StatusOr<int64_t> readThreads(const char *text) {
  std::string_view digits = text;
  int64_t threads = 0;
  bool isNumber = !digits.empty() && digits.size() <= 4;
  for (char digit : digits) {
    isNumber = isNumber && digit >= '0' && digit <= '9';
    if (isNumber)
      threads = threads * 10 + (digit - '0');
  }
  if (isNumber && threads >= 1 && threads <= ThreadPool::kMaxThreads)
    return threads;
  return Status(StatusCode::InvalidArgument, fmt::format("expected INLAY_NUM_THREADS to be a number from 1 to {}, but "
                                                         "got '{}'",
                                                         ThreadPool::kMaxThreads, digits));
}

ThreadPool &ThreadPool::get() {
  static LazyStatic<ThreadPool> shared;
  return shared.get([] { return ThreadPool(); });
}

ThreadPool::ThreadPool() {
  if (const char *text = std::getenv("INLAY_NUM_THREADS"); text && *text) {
    StatusOr<int64_t> threads = readThreads(text);
    status_ = threads.status();
    threads_ = threads.isOk() ? *threads : 1;
  } else {
    threads_ = countUsableCpus();
  }
  std::atexit([] { get().end(); });
}

/// Stops the workers when the process exits. Called once, or twice in a child that created the pool again.
void ThreadPool::end() {
  if (hasEnded_)
    return;
  while (!insideLoop && !acquire()) // another thread may be inside a loop while the process exits
    sched_yield();
  hasEnded_ = true;
  threads_ = 1; // later loops run on their calling thread
  stopWorkers();
}

/// Resets the pool in the child of a fork: the workers don't exist there, and locks may be left locked.
void ThreadPool::forgetWorkers() {
  workers_.clear();
  state_ = 0;
  sleepers_ = 0;
  stopping_ = false;
  new (&mutex_) std::mutex;
  new (&wake_) std::condition_variable;
  new (&error_) FirstError;
  busy_ = false;
}

bool ThreadPool::acquire() {
  fork_.renewAfterFork([this] { forgetWorkers(); });
  bool expected = false;
  return busy_.compare_exchange_strong(expected, true, std::memory_order_acquire, std::memory_order_relaxed);
}

Status ThreadPool::setThreads(int64_t threads) {
  if (threads < 1 || threads > kMaxThreads)
    return {StatusCode::InvalidArgument,
            fmt::format("expected a number of threads from 1 to {}, but got {}", kMaxThreads, threads)};
  if (insideLoop)
    return {StatusCode::InvalidArgument, "the number of threads can't change inside a loop that runs on them"};
  while (!acquire()) {
    if (hasEnded_)
      return {StatusCode::Stopped, "the process is exiting"};
    sched_yield();
  }
  if (threads != threads_) {
    stopWorkers();
    threads_ = threads;
  }
  busy_.store(false, std::memory_order_release);
  return Status::ok();
}

/// Starts missing workers, or fewer if the system allows no more threads or has no memory. The caller must own the
/// pool.
void ThreadPool::startWorkers() {
  auto wanted = static_cast<size_t>(threads_ - 1);
  if (workers_.size() >= wanted)
    return;
  auto reserve = [&] {
    workers_.reserve(wanted);
    return Status::ok();
  };
  if (!guard(reserve).isOk())
    return;
  while (workers_.size() < wanted) {
    pthread_t worker;
    if (pthread_create(&worker, nullptr, work, this) != 0)
      break;
    workers_.push_back(worker);
  }
}

void ThreadPool::stopWorkers() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  for (pthread_t worker : workers_)
    pthread_join(worker, nullptr);
  workers_.clear();
  stopping_ = false;
}

void *ThreadPool::work(void *pool) {
  insideLoop = true; // loops inside a body run on this thread
  static_cast<ThreadPool *>(pool)->serve();
  return nullptr;
}

static bool isNewWork(uint64_t state, uint64_t last) { return (state & kOpen) && state / kGeneration != last; }

/// Waits until there is a loop after number `last`. Returns false if the worker must end.
bool ThreadPool::waitForWork(uint64_t last) {
  auto isDone = [&] {
    return stopping_.load(std::memory_order_relaxed) || isNewWork(state_.load(std::memory_order_seq_cst), last);
  };
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!isDone() && std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 32 && !isDone(); ++i)
      pauseBriefly();
  if (!isDone()) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, isDone);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return !stopping_;
}

void ThreadPool::serve() {
  uint64_t last = 0;
  while (waitForWork(last)) {
    uint64_t state = state_.load(std::memory_order_acquire);
    if (!isNewWork(state, last))
      continue;
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel))
      continue;
    last = state / kGeneration;
    int64_t begin = span_ ? traceTime() : 0;
    if (runChunks() && span_)
      span_->addPart(begin, traceTime());
    state_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

/// Runs chunks until none is left or one has failed. Returns true if it ran any.
bool ThreadPool::runChunks() {
  for (bool any = false;; any = true) {
    int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= count_ || error_.failed())
      return any;
    error_.record(guard([&] { return body_(data_, begin, std::min(begin + chunk_, count_)); }));
  }
}

void ThreadPool::publish() {
  next_.store(0, std::memory_order_relaxed);
  uint64_t generation = state_.load(std::memory_order_relaxed) / kGeneration + 1;
  state_.store(generation * kGeneration | kOpen, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }
}

/// Prevents workers from joining and waits for those that have joined.
void ThreadPool::finish() {
  uint64_t state = state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; state & kJoined; ++spins) {
    if (spins < 4096)
      pauseBriefly();
    else
      sched_yield(); // the worker may need this CPU
    state = state_.load(std::memory_order_acquire);
  }
}

/// Runs a loop on this thread alone.
Status ThreadPool::runHere(int64_t count, int64_t chunk, Body body, const void *data) {
  return guard([&] {
    for (int64_t begin = 0; begin < count; begin += std::min(chunk, count - begin))
      INLAY_RETURN_IF_ERROR(body(data, begin, begin + std::min(chunk, count - begin)));
    return Status::ok();
  });
}

Status ThreadPool::run(int64_t count, int64_t chunk, Body body, const void *data) {
  if (count <= 0)
    return Status::ok();
  chunk = std::max<int64_t>(chunk, 1);
  // `next_` exceeds the end by up to one chunk per thread, which must not overflow.
  bool mayShare = count <= INT64_MAX / 2 && chunk < INT64_MAX / 2 / (kMaxThreads + 1);
  if (count <= chunk || !mayShare || insideLoop || threads() == 1 || !acquire())
    return runHere(count, chunk, body, data);
  body_ = body;
  data_ = data;
  count_ = count;
  chunk_ = chunk;
  span_ = TraceSpan::current();
  startWorkers();
  publish();
  insideLoop = true;
  runChunks();
  insideLoop = false;
  finish();
  Status status = error_.take();
  busy_.store(false, std::memory_order_release);
  return status;
}

} // namespace inlay::rt::host
