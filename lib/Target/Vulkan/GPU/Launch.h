// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all launches of generated kernels have in common: grids of two axes, what kernels take along, tile numbers.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H
#define INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H

#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Mesa's llvmpipe leaves an invocation's loops, all of them counted together, after this many iterations without a
/// word.
inline constexpr int64_t kMaxIterations = (int64_t(1) << 16) - 2;

/// How many workgroups there are along x and y.
struct Grid {
  mlir::AffineExpr width, height;

  /// True if all of them have something to do.
  bool isExact() const;
};

/// A grid for `groups` workgroups, of which there are at most `most`, with at most `maxGrid` along an axis.
Grid foldGrid(mlir::AffineExpr groups, int64_t most, int64_t maxGrid);

/// A launch under construction.
struct Launch {
  mlir::gpu::LaunchOp op;
  mlir::OpBuilder inside; ///< within the bounds check
  mlir::Value number;     ///< of the invocation or workgroup
  mlir::Value count;      ///< of these: the one constant that stays outside, as a launch parameter
};

/// Opens a launch of `groups` workgroups, of which there are at most `most`, of `size` invocations each. The bounds
/// check is of whole workgroups: all invocations of one come to its barriers, or none.
Launch openWorkgroups(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr groups, int64_t most, int64_t size,
                      int64_t maxGrid);

/// Gives the launch its own copies of constants from around it, so that they don't become launch parameters, and of
/// what is computed from sizes but is no size. `kept` stays a parameter.
void sinkScalars(mlir::gpu::LaunchOp launch, mlir::Value kept = nullptr);

/// A tile's first index along each loop that has a count, from the tile's number; the last loop is the fastest. Loops
/// without a count (null) have no index. `factors` are the steps of a tile.
llvm::SmallVector<mlir::Value> splitNumber(mlir::OpBuilder &builder, mlir::Location loc,
                                           llvm::ArrayRef<int64_t> factors, llvm::ArrayRef<mlir::OpFoldResult> counts,
                                           mlir::Value number);

/// Most iterations of all loops that an invocation runs for one tile, or `kMaxIterations` + 1 if there may be more.
/// Of loop `share.loop` it takes one of `share.count` parts.
int64_t countIterations(const TileEmitter &emitter, const ReductionShare &share = {});

/// Has long sums added up in parts, so that errors don't grow with all terms; not those so long that the parts' loop
/// would be too much for a driver.
void cutSums(TileEmitter &emitter);

/// Loops along which the last tile may reach over the end.
llvm::SmallVector<size_t> findRagged(const LoopNestShape &shape, const TileShape &tile);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H
