// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the bytes of sections to a plan; each byte may be anything.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H
#define INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H

#include "inlay/Runtime/Core/Plan.h"

#include <string_view>

namespace inlay::rt {

/// Most instructions of an expression and most bytes of a name.
constexpr uint32_t kMaxInstructions = 4096, kMaxTextBytes = 1 << 24;

/// Memory that may still be allocated, in bytes.
class Budget {
public:
  explicit Budget(uint64_t bytes) : left_(bytes) {}
  /// Takes `bytes` of it; false if there are not so many.
  bool take(uint64_t bytes) {
    bool fits = bytes <= left_;
    left_ -= fits ? bytes : 0;
    return fits;
  }

private:
  uint64_t left_;
};

/// Bytes that constants lie in, with what keeps them alive.
struct ConstantBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

/// What a plan is decoded from. Sections that a file lacks are empty.
struct PlanBytes {
  std::string_view plan, spirv, host, foreign;
  ConstantBytes inside;  ///< the section "constants"
  ConstantBytes outside; ///< the weights file
};

/// Checks what can't be told from the plan alone any more: lengths, ranges in sections, numbers of enumerations, that
/// constants are aligned to their elements. `checkPlan` checks the rest. Constants refer to their bytes, the rest is
/// copied.
StatusOr<std::shared_ptr<Plan>> decodePlan(const PlanBytes &bytes, Budget &budget);

/// An error if the plan is too big for `decodePlan` in some part.
Status checkLimits(const Plan &plan);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_PLANREADER_H
