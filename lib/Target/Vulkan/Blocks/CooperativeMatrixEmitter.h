// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one block of a product that a workgroup computes with cooperative matrices.

#ifndef INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXEMITTER_H
#define INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXEMITTER_H

#include "BlockEmitter.h"
#include "CooperativeMatrixPolicy.h"

namespace inlay {

/// Returns true if the op of `emitter` adds up in f32 the products of the f16 elements of two inputs, which is what
/// cooperative matrices compute.
bool isCooperativeMatrixProduct(const TileEmitter &emitter);

/// Emits the block at `place` and the ops of `fusion`. All invocations of a workgroup must run the code together. A
/// block may reach over the ends of all loops.
void emitCooperativeMatrixProduct(mlir::OpBuilder &builder, TileEmitter &emitter, const CooperativeMatrixTile &tile,
                                  const BlockPlace &place, const ProductFusion &fusion);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_BLOCKS_COOPERATIVEMATRIXEMITTER_H
