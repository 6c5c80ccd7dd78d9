// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose dims a device has in another order than the host.

#ifndef INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H
#define INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Core/Status.h"

namespace inlay::rt {

/// Checks that `order` of a constant goes over its dims and these over its bytes.
Status checkOrder(const Constant &constant);

/// Writes the bytes of `constant`, whose order is sound, to as many at `to`, as a device has them.
void putInOrder(const Constant &constant, void *to);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_PLAN_CONSTANTORDER_H
