// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device allows, as pure checks: the runtime refuses by them, a compiler may ask them first.

#ifndef INLAY_RUNTIME_VULKAN_LIMITS_H
#define INLAY_RUNTIME_VULKAN_LIMITS_H

#include "inlay/Runtime/Core/Plan.h"
#include "inlay/Runtime/Vulkan/DeviceCaps.h"

namespace inlay::rt::vulkan {

/// One entry of `Kernel::requirements`: float16, float64, int8, int16, int64, storage8, storage16, memory-model,
/// subgroup-arithmetic, subgroup-ballot, subgroup-shuffle, subgroup-size=N, workgroup-memory=N (bytes),
/// texel-elements=N, or cooperative-matrix=S with a shape S as `listMatrixShapes` has them. An unknown one is an error.
Status checkRequirement(const DeviceCaps &caps, const std::string &requirement);

/// The products of matrices that kernels may have a subgroup of the device compute, as "16x8x16xf16xf32": rows, columns
/// and depth, then the type of elements and that of sums.
std::vector<std::string> listMatrixShapes(const DeviceCaps &caps);

/// The N of subgroup-size=N among the kernel's requirements, or 0.
uint32_t requiredSubgroupSize(const Kernel &kernel);

/// Requirements, block, bindings and push constants. The message gives the kernel's number and the device's.
Status checkKernelLimits(const DeviceCaps &caps, const Kernel &kernel);

/// Workgroup counts: each from 0 to the device's maximum.
Status checkGrid(const DeviceCaps &caps, const std::array<int64_t, 3> &grid);

/// Bytes that one binding may see.
Status checkStorageRange(const DeviceCaps &caps, uint64_t bytes);

/// The same of a binding of kind `kind`: of texels as many as the device's texel buffers have.
Status checkBoundRange(const DeviceCaps &caps, BindingKind kind, uint64_t bytes);

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_LIMITS_H
