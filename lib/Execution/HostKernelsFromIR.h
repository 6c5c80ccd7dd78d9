// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of host functions' kernels, from the plan dialect to the runtime.

#ifndef INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H
#define INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H

#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay {

/// What a verified attribute says.
rt::HostKernel convertHostKernel(plan::HostKernelAttr attr);

} // namespace inlay

#endif // INLAY_LIB_EXECUTION_HOSTKERNELSFROMIR_H
