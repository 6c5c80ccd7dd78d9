// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All fields of a plan as text, for comparisons.

#ifndef INLAY_UNITTESTS_RUNTIME_CONTAINER_PLANTEXT_H
#define INLAY_UNITTESTS_RUNTIME_CONTAINER_PLANTEXT_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::test {

/// Returns a line for each part, with the bytes of constants.
std::string describe(const Plan &plan);

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CONTAINER_PLANTEXT_H
