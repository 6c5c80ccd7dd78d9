// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ContextPool: the execution contexts of a program that no call uses now. Calls take them and give them back.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_CONTEXTPOOL_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_CONTEXTPOOL_H

#include "ExecutionContext.h"

#include "inlay/Runtime/Core/Fork.h"

namespace inlay::rt {

/// Thread-safe.
class ContextPool {
public:
  /// Takes a context, or returns null if there is none. Prefers one that knows these dims, so that nothing is recorded,
  /// and among these one that is bound to the session. Otherwise it takes the one used last, so that few contexts grow.
  std::unique_ptr<ExecutionContext> take(const InputDims &dims, const StateMemory *session);

  /// Adds a context without its stale instances. Drops the one that was idle longest if there are too many. Drops this
  /// one if there is no memory to keep it. Never fails, because the call has already changed states.
  void give(std::unique_ptr<ExecutionContext> context);

  void clear();

  /// Destroys the instances of idle contexts that keep memory which their session no longer uses.
  void dropStale();

private:
  /// Maximum number of contexts kept for later calls.
  static constexpr size_t maxIdle = 16;

  SharedCache<std::vector<std::unique_ptr<ExecutionContext>>> idle_; ///< Least recently used first.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_CONTEXTPOOL_H
