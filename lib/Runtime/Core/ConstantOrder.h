// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose dims a device has in another order than the host.

#ifndef INLAY_LIB_RUNTIME_CORE_CONSTANTORDER_H
#define INLAY_LIB_RUNTIME_CORE_CONSTANTORDER_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Core/Status.h"

#include <memory>

namespace inlay::rt {

/// Checks that `order` of a constant goes over its dims and these over its bytes.
Status checkOrder(const Constant &constant);

/// The bytes at `data`, of `constant`, whose order is sound, as a device has them; null if there is no memory for them.
std::unique_ptr<char[]> putInOrder(const Constant &constant, const void *data);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CORE_CONSTANTORDER_H
