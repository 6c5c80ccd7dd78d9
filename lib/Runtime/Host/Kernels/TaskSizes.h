// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of the tasks that library kernels run on the thread pool, and limits of kernels.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_TASKSIZES_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_TASKSIZES_H

#include <cstddef>
#include <cstdint>

namespace inlay::rt::host {

/// Number of tasks per thread. Several tasks per thread balance the load when some take longer than others.
inline constexpr int64_t kTasksPerThread = 3;

/// Largest number of biases and operands of post-ops of a kernel that keeps them in an array.
inline constexpr size_t kMaxPostOperands = 32;

/// Minimum number of multiplications that are worth waking a thread for.
inline constexpr double kMinWork = 100e3;

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_TASKSIZES_H
