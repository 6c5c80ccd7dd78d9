// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool: the only thread pool of the process for work on the host.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H

#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay::rt {
class TraceSpan;
} // namespace inlay::rt

namespace inlay::rt::host {

/// Keeps the first error of several threads.
class FirstError {
public:
  void record(Status status) {
    if (status.isOk())
      return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failed_.exchange(true))
      status_ = std::move(status);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// Returns the first error and forgets it. Must be called after all threads are done.
  Status take() { return failed_.exchange(false) ? std::exchange(status_, Status::ok()) : Status::ok(); }

private:
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status status_;
};

/// Runs loops in chunks. The caller takes part. Workers start at the first loop; after each loop they poll for some
/// tens of microseconds and then sleep. A loop runs on its calling thread alone if the pool is busy or the loop is
/// inside another one. After a fork the child starts new workers. Thread-safe. The process must not fork inside a loop.
class ThreadPool {
public:
  /// A part of a loop: iterations [begin, end).
  using Body = Status (*)(const void *data, int64_t begin, int64_t end);

  static constexpr int64_t kMaxThreads = 1024;

  static ThreadPool &get();

  /// Returns an error if `INLAY_NUM_THREADS` is not a number from 1 to 1024. The pool then has one thread.
  Status status() const { return status_; }

  /// Returns the maximum number of threads of a loop, including the caller's. Initially `INLAY_NUM_THREADS`, or the
  /// number of CPUs that this process may use.
  int64_t threads() const { return threads_.load(std::memory_order_relaxed); }

  /// Sets the number of threads. Waits until no loop runs. Fails outside of 1 to 1024, or inside a loop.
  Status setThreads(int64_t threads);

  /// Calls `body` for chunks of at most `chunk` iterations that cover [0, count), and returns when all are done. If a
  /// chunk fails, chunks that have not started are left out. An allocation that fails in `body` is an error too.
  /// Returns the first error.
  Status run(int64_t count, int64_t chunk, Body body, const void *data);

  /// Overload for a callable (begin, end) that returns a Status or nothing.
  template <typename Function>
  Status run(int64_t count, int64_t chunk, const Function &function) {
    return run(
        count, chunk,
        [](const void *data, int64_t begin, int64_t end) {
          const auto &body = *static_cast<const Function *>(data);
          if constexpr (std::is_void_v<decltype(body(begin, end))>)
            return body(begin, end), Status::ok();
          else
            return Status(body(begin, end));
        },
        &function);
  }

  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

private:
  ThreadPool();
  static void *work(void *pool);
  void forgetWorkers();
  void end();
  bool acquire();
  void startWorkers();
  void stopWorkers();
  void publish();
  void finish();
  void serve();
  bool waitForWork(uint64_t last);
  bool runChunks();
  static Status runHere(int64_t count, int64_t chunk, Body body, const void *data);

  ForkDetector fork_;
  Status status_;
  std::atomic<int64_t> threads_{1};
  std::atomic<bool> busy_{false}; ///< Locks the following members for a loop or a change of the number of threads.
  std::vector<pthread_t> workers_;
  Body body_ = nullptr;
  const void *data_ = nullptr;
  int64_t count_ = 0;
  int64_t chunk_ = 1;
  const TraceSpan *span_ = nullptr;   ///< The span around the loop, if it is recorded.
  FirstError error_;                  ///< Of the loop's chunks.
  std::atomic<bool> hasEnded_{false}; ///< True from the exit of the process on.
  std::atomic<int64_t> next_{0};
  /// The number of the loop, a bit that lets workers join, and the number of workers in the loop. They share one word,
  /// so that a worker can join only while the caller waits for it.
  std::atomic<uint64_t> state_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H
