// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ExecutionContext: what one call in flight has to itself: memory, and what was recorded over it for the few most
// recent sizes.

#ifndef INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H
#define INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H

#include "PlanInstance.h"

namespace inlay::rt {

/// Memory grows to what the largest size so far needs; what was recorded over smaller memory goes then.
class ExecutionContext {
public:
  explicit ExecutionContext(const ProgramState &loaded) : loaded_(loaded) {}

  /// True if `prepare` finds what it needs for these dims.
  bool knows(const InputDims &dims) const;

  /// Gets ready for calls of these dims. After an error other dims can be prepared all the same.
  Status prepare(const InputDims &dims, Failure &failure);

  /// What was prepared last.
  PlanInstance &instance() { return *instances_.back(); }

private:
  /// Sizes that are kept; beyond it the least recently used one goes.
  static constexpr size_t maxInstances = 4;

  const ProgramState &loaded_;
  Storage storage_;
  std::vector<std::unique_ptr<PlanInstance>> instances_; ///< least recently used first
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_EXECUTE_EXECUTIONCONTEXT_H
