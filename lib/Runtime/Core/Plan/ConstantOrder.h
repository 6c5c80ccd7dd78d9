// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose dims the device stores in another order than the host.

#ifndef INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H
#define INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Core/Status.h"

namespace inlay::rt {

/// Checks that `order` of a constant is a permutation of its dims and that the dims cover its bytes.
Status checkOrder(const Constant &constant);

/// Writes the elements of `constant` to `to` in the order of the device. The order must have passed `checkOrder`.
void putInOrder(const Constant &constant, void *to);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H
