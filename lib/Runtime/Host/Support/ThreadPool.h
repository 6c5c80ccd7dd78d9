// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool: the process's only pool of threads for work on the host.

#ifndef INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H
#define INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H

#include "inlay/Runtime/Core/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace inlay::rt {
class TraceSpan;
} // namespace inlay::rt

namespace inlay::rt::host {

/// Runs loops in chunks. The caller takes part; workers start at the first loop, spin for some tens of microseconds
/// after each and then sleep. Whoever finds the pool busy, or calls it from inside a loop, runs its loop alone. After a
/// fork the child starts workers of its own. Safe from several threads.
class ThreadPool {
public:
  /// A part of a loop: iterations [begin, end).
  using Body = void (*)(const void *data, int64_t begin, int64_t end);

  static constexpr int64_t kMaxThreads = 1024;

  static ThreadPool &get();

  /// Whether `INLAY_NUM_THREADS` held a number of threads, 1 to 1024. If it was wrong there is one thread.
  Status status() const { return status_; }

  /// How many threads a loop may have, the caller's included. At first `INLAY_NUM_THREADS`, or as many as there are
  /// CPUs that this process may use.
  int64_t threads() const { return threads_.load(std::memory_order_relaxed); }

  /// Waits until no loop runs. An error outside 1 to 1024, or inside a loop.
  Status setThreads(int64_t threads);

  /// Calls `body` for chunks of at most `chunk` iterations that cover [0, count), and returns when all are done.
  void run(int64_t count, int64_t chunk, Body body, const void *data);

  /// The same for a callable (begin, end).
  template <typename Function>
  void run(int64_t count, int64_t chunk, const Function &function) {
    run(
        count, chunk,
        [](const void *data, int64_t begin, int64_t end) { (*static_cast<const Function *>(data))(begin, end); },
        &function);
  }

  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

private:
  ThreadPool();
  static void *work(void *pool);
  static void forgetWorkers();
  bool acquire();
  void startWorkers();
  void stopWorkers();
  void publish();
  void finish();
  void serve();
  bool waitForWork(uint64_t last);
  bool runChunks();

  Status status_;
  std::atomic<int64_t> threads_{1};
  std::atomic<bool> busy_{false}; ///< a loop, or who changes the number of threads, owns what follows
  std::vector<pthread_t> workers_;
  Body body_ = nullptr;
  const void *data_ = nullptr;
  int64_t count_ = 0;
  int64_t chunk_ = 1;
  const TraceSpan *span_ = nullptr; ///< what the loop is a part of, if that is recorded
  std::atomic<int64_t> next_{0};
  /// The number of the loop, whether workers may still join, and how many are in it: one word, so that a worker joins
  /// only while the caller waits for it.
  std::atomic<uint64_t> state_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_SUPPORT_THREADPOOL_H
