// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the descriptions of host kernels from the plan dialect to the runtime's plan.

#ifndef INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H
#define INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H

#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay {

/// Converts a verified attribute.
rt::HostKernel convertHostKernel(plan::HostKernelAttr attr);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H
