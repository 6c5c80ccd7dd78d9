// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks against the limits of a device, as pure functions. The runtime refuses plans that fail them. A compiler may
// call them earlier.

#ifndef INLAY_RUNTIME_VULKAN_LIMITS_H
#define INLAY_RUNTIME_VULKAN_LIMITS_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

namespace inlay::rt::vulkan {

/// Checks one entry of `Kernel::requirements`: float16, float64, int8, int16, int64, storage8, storage16, memory-model,
/// subgroup-arithmetic, subgroup-ballot, subgroup-shuffle, subgroup-size=N, workgroup-memory=N (bytes),
/// texel-elements=N, or cooperative-matrix=S with a shape S of `listMatrixShapes`. An unknown entry is an error.
Status checkRequirement(const DeviceCaps &caps, const std::string &requirement);

/// Returns the matrix products that a subgroup of the device can compute, as "16x8x16xf16xf32": rows, columns and
/// depth, then the element type and the type of sums.
std::vector<std::string> listMatrixShapes(const DeviceCaps &caps);

/// Returns the subgroup size for kernels that depend on it. It is the device's default, except on Intel's GPUs: with
/// their default, the largest size, an invocation has so few registers that products spill.
uint32_t chooseSubgroupSize(const DeviceCaps &caps);

/// Returns the N of subgroup-size=N in the kernel's requirements, or 0.
uint32_t requiredSubgroupSize(const Kernel &kernel);

/// Checks requirements, block, bindings and push constants. The message gives the kernel's figure and the device's.
Status checkKernelLimits(const DeviceCaps &caps, const Kernel &kernel);

/// Checks workgroup counts: each must be from 0 to the device's maximum.
Status checkGrid(const DeviceCaps &caps, const std::array<int64_t, 3> &grid);

/// Checks that one storage binding may have `bytes` bytes.
Status checkStorageRange(const DeviceCaps &caps, uint64_t bytes);

/// Checks the bytes of a binding of kind `kind`. A texel binding may have as many texels as the device's texel buffers.
Status checkBoundRange(const DeviceCaps &caps, BindingKind kind, uint64_t bytes);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_LIMITS_H
