// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the bytes of sections to a plan. The bytes may be hostile.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H
#define INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H

#include "inlay/Runtime/Core/Budget.h"
#include "inlay/Runtime/Core/Plan.h"

#include <string_view>

namespace inlay::rt {

/// Bytes of memory that loading takes for each byte of a decoded table: one for the plan, the others for the tables
/// that the check, the schedule and the program derive from it.
constexpr uint64_t kLoadFactor = 4;

/// Bytes of memory that loading takes for each byte of SPIR-V, object code and payloads: a copy in the plan, and a copy
/// in a pipeline or an engine.
constexpr uint64_t kPoolFactor = 2;

/// Maximum number of instructions of an expression and of bytes of a name.
constexpr uint32_t kMaxInstructions = 4096, kMaxTextBytes = 1 << 24;

/// The bytes of constants and the owner that keeps them alive.
struct ConstantBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

/// The input of `decodePlan`. Sections that a file lacks are empty.
struct PlanBytes {
  std::string_view plan, spirv, host, foreign;
  ConstantBytes inside;  ///< The section "constants".
  ConstantBytes outside; ///< The weights file.
};

/// Decodes a plan. Checks only what a plan no longer shows: lengths, ranges in sections, values of enumerations, and
/// the alignment of constants. `checkPlan` checks the rest. Constants refer to their bytes; everything else is copied.
StatusOr<std::shared_ptr<Plan>> decodePlan(const PlanBytes &bytes, Budget &budget);

/// Returns an error if a part of the plan is too large for `decodePlan`.
Status checkLimits(const Plan &plan);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H
