// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans with something of everything, for tests of what stores them.

#ifndef INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H
#define INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::test {

/// A plan that `checkPlan` accepts; the same for the same seed. It calls the framework if the seed is odd.
std::shared_ptr<Plan> randomPlan(uint32_t seed);

/// A plan of a copy that is as small as can be, without constants.
std::shared_ptr<Plan> smallPlan();

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CONTAINER_RANDOMPLAN_H
