// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one block of a product that a workgroup computes from operands in workgroup memory.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTEMITTER_H

#include "BlockEmitter.h"
#include "WorkgroupProductPolicy.h"

namespace inlay {

/// Returns true if the op of `emitter` adds up the products of the f32 elements of two inputs.
bool isWorkgroupProduct(const TileEmitter &emitter);

/// Emits the block at `place` and the ops of `fusion`. All invocations of a workgroup must run the code together. A
/// block may reach over the ends of all loops.
void emitWorkgroupProduct(mlir::OpBuilder &builder, TileEmitter &emitter, const WorkgroupProductTile &tile,
                          const BlockPlace &place, const ProductFusion &fusion);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_WORKGROUPPRODUCTEMITTER_H
