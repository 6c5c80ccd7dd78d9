// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ExecutionContext: the memory and the recorded commands that one call in flight uses alone. It keeps plan instances
// for the most recent input dims.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H

#include "PlanInstance.h"

namespace inlay::rt {

/// Its memory grows to the largest size so far. When it grows, commands recorded over the smaller memory are dropped.
class ExecutionContext {
public:
  explicit ExecutionContext(const ProgramState &loaded) : loaded_(loaded) {}

  /// Returns true if a plan instance for these dims exists, and if it is bound to the session.
  bool knows(const InputDims &dims) const;
  bool isBoundTo(const InputDims &dims, const StateMemory &session) const;

  /// Prepares calls of these dims with the states of a session, which may be null. After an error other dims can still
  /// be prepared.
  Status prepare(const InputDims &dims, StateMemory *session, Failure &failure);

  /// Removes and returns an instance whose session no longer uses the memory that it is bound to, or null.
  std::unique_ptr<PlanInstance> takeStale();

  /// Returns the instance that was prepared last.
  PlanInstance &instance() { return *instances_.back(); }

private:
  /// Maximum number of plan instances. Beyond it the least recently used one is dropped.
  static constexpr size_t maxInstances = 4;

  Status bindStates(StateMemory &session, Failure &failure);

  const ProgramState &loaded_;
  Storage storage_;
  std::vector<std::unique_ptr<PlanInstance>> instances_; ///< Least recently used first.
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H
