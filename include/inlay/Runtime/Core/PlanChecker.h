// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The load-time checker. If a plan passes it, no number in the plan can make the executor or a device access memory out
// of bounds.

#ifndef INLAY_RUNTIME_CORE_PLANCHECKER_H
#define INLAY_RUNTIME_CORE_PLANCHECKER_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// Checks everything in a plan that does not depend on a device or on input dims. The status names the first fault.
Status checkPlan(const Plan &plan);

/// Checks one engine by itself: numbers in range, matching counts, expressions over inputs of these ranks.
Status checkEngine(const Engine &engine, const std::vector<size_t> &inputRanks);

/// Returns the access of an engine to each of its arguments over all dispatches; Read if no dispatch uses the argument.
/// The engine must have passed `checkEngine`.
std::vector<Access> argumentAccess(const Engine &engine);

/// Returns the buffers that a step of a checked plan may access, and how. Unknown accesses count as ReadWrite.
std::vector<std::pair<uint32_t, Access>> stepAccess(const Plan &plan, const Step &step);

inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PLANCHECKER_H
