// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lends idle execution contexts to calls. ExecutionContext.cpp prepares them.

#include "ContextPool.h"

#include "inlay/Runtime/Core/Guard.h"

#include <algorithm>

namespace inlay::rt {

std::unique_ptr<ExecutionContext> ContextPool::take(const InputDims &dims, const StateMemory *session) {
  return idle_.use([&](auto &idle) -> std::unique_ptr<ExecutionContext> {
    if (idle.empty())
      return nullptr;
    auto fit = [&](auto &context) { return context->knows(dims) + (session && context->isBoundTo(dims, *session)); };
    auto best = std::prev(idle.end());
    for (auto context = idle.rbegin(); context != idle.rend(); ++context)
      if (fit(*context) > fit(*best))
        best = std::next(context).base();
    std::unique_ptr<ExecutionContext> taken = std::move(*best);
    idle.erase(best);
    return taken;
  });
}

void ContextPool::give(std::unique_ptr<ExecutionContext> context) {
  Status status;
  while (context && status.isOk()) {
    std::unique_ptr<PlanInstance> stale; // both are destroyed after the cache is unlocked
    std::unique_ptr<ExecutionContext> evicted;
    auto add = [&](auto &idle) {
      stale = context->takeStale(); // while the cache is locked, so that `dropStale` misses nothing
      if (stale)
        return;
      if (idle.size() == maxIdle) {
        evicted = std::move(idle.front());
        idle.erase(idle.begin());
      }
      idle.push_back(std::move(context));
    };
    status = guard([&] {
      idle_.use(add);
      return Status::ok();
    });
  }
}

void ContextPool::clear() {
  std::vector<std::unique_ptr<ExecutionContext>> victims; // destroyed after the cache is unlocked
  idle_.use([&](auto &idle) { victims.swap(idle); });
}

/// Allocates nothing, because destructors of sessions call it.
void ContextPool::dropStale() {
  std::unique_ptr<PlanInstance> stale; // destroyed after the cache is unlocked
  do {
    stale = nullptr;
    idle_.use([&](auto &idle) {
      for (auto context = idle.begin(); context != idle.end() && !stale; ++context)
        stale = (*context)->takeStale();
    });
  } while (stale);
}

} // namespace inlay::rt
