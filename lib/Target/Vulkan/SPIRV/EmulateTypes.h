// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the element types that a device lacks, so that no op needs another target because of its element type.
//
// | type   | emulated                                | computed in | in storage buffers                   |
// |--------|-----------------------------------------|-------------|--------------------------------------|
// | bf16   | always, since SPIR-V 1.6 has no bf16    | f32         | 16-bit integers, else words          |
// | f16    | without the feature float16             | f32         | 16-bit integers, else words          |
// | i8,i16 | without the features int8 and int16     | i32         | integers of that size, else words    |
// | i1     | in buffers, without the feature int8    | i1          | one byte per element, in words       |
//
// A word is an integer of 32 bits that holds two or four elements. Workgroup memory holds elements as they are
// computed.

#ifndef INLAY_LIB_TARGET_VULKAN_SPIRV_EMULATETYPES_H
#define INLAY_LIB_TARGET_VULKAN_SPIRV_EMULATETYPES_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Returns true if kernels for `target` emulate values of type `element`.
bool isEmulated(mlir::Type element, VulkanAttr target);

/// Replaces all types of `kernel` that `target` lacks. Each operation on floats is rounded to the nearest number of its
/// type, ties to even, and each operation on integers wraps around. Emits an error and fails if an op can't be
/// emulated.
mlir::LogicalResult emulateTypes(mlir::gpu::GPUFuncOp kernel, VulkanAttr target);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_SPIRV_EMULATETYPES_H
