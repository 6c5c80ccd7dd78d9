// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The load-time checker. If a plan passes it, no number in the plan can make the executor or a device access memory out
// of bounds.

#ifndef INLAY_RUNTIME_CORE_PLANCHECKER_H
#define INLAY_RUNTIME_CORE_PLANCHECKER_H

#include "inlay/Runtime/Core/Plan.h"

#include <optional>

namespace inlay::rt {

/// Checks everything in a plan that does not depend on a device or on input dims. The status names the first fault.
Status checkPlan(const Plan &plan);

/// Checks one engine by itself: numbers in range, matching counts, expressions over inputs of these ranks.
Status checkEngine(const Engine &engine, const std::vector<size_t> &inputRanks);

/// Returns the access of an engine to each of its arguments over all dispatches; Read if no dispatch uses the argument.
/// The engine must have passed `checkEngine`.
std::vector<Access> argumentAccess(const Engine &engine);

/// A buffer that a step may access, and how. Unknown accesses count as ReadWrite.
using StepAccesses = std::vector<std::pair<uint32_t, Access>>;

/// Returns the accesses of each step of a checked plan.
std::vector<StepAccesses> stepAccesses(const Plan &plan);

/// The accesses of engines to their arguments. Those of each engine are computed once, so that many launches of a large
/// engine take time in proportion to their arguments. The plan must outlive it, and the engines that are asked for must
/// have passed `checkEngine`.
class EngineAccess {
public:
  explicit EngineAccess(const Plan &plan) : plan_(plan), access_(plan.engines.size()) {}
  /// Returns the same as `argumentAccess`.
  const std::vector<Access> &of(uint32_t engine);

private:
  const Plan &plan_;
  std::vector<std::optional<std::vector<Access>>> access_;
};

/// Returns a buffer that occurs more than once in `buffers` and is written as one of these arguments, if there is one.
std::optional<uint32_t> findWrittenTwice(const std::vector<uint32_t> &buffers, const std::vector<Access> &access);

inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PLANCHECKER_H
