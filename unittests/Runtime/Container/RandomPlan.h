// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random plans that use all features, for tests of code that stores plans.

#ifndef INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H
#define INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::test {

/// Returns a plan that `checkPlan` accepts. The same seed gives the same plan. It calls the framework if the seed is
/// odd.
std::shared_ptr<Plan> randomPlan(uint32_t seed);

/// Returns a minimal plan: one copy, no constants.
std::shared_ptr<Plan> smallPlan();

/// Returns a plan that returns the input of the call before: zeros at first.
std::shared_ptr<Plan> statePlan();

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H
