// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The load-time checker: after it, no number in a plan can lead the executor or a device out of bounds.

#ifndef INLAY_RUNTIME_CORE_PLANCHECKER_H
#define INLAY_RUNTIME_CORE_PLANCHECKER_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// Checks all of a plan that doesn't depend on a device or on input dims. The status names the first thing that is
/// wrong.
Status checkPlan(const Plan &plan);

/// Checks one engine by itself: numbers in range, counts that agree, expressions over inputs of these ranks.
Status checkEngine(const Engine &engine, const std::vector<size_t> &inputRanks);

/// What an engine does with each of its arguments over all its dispatches; Read for one that no dispatch uses.
/// The engine must have passed `checkEngine`.
std::vector<Access> argumentAccess(const Engine &engine);

/// The buffers that a step of a checked plan may touch and how; the safe answer where nothing is known.
std::vector<std::pair<uint32_t, Access>> stepAccess(const Plan &plan, const Step &step);

inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_PLANCHECKER_H
