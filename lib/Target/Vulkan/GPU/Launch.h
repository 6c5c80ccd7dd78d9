// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared parts of all launches of generated kernels: two-dimensional grids, captured values, and tile numbers.

#ifndef INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H
#define INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H

#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace inlay {

/// Maximum number of loop iterations of an invocation, counted over all loops. Mesa's llvmpipe silently leaves loops
/// after this number.
inline constexpr int64_t kMaxIterations = (int64_t(1) << 16) - 2;

/// Number of workgroups along x and y.
struct Grid {
  mlir::AffineExpr width, height;

  /// Returns true if the grid has no more workgroups than requested.
  bool isExact() const;
};

/// Returns a grid for `groups` workgroups, a number that is at most `maxGroups`. Each axis has at most `maxGrid`
/// workgroups.
Grid foldGrid(mlir::AffineExpr groups, int64_t maxGroups, int64_t maxGrid);

/// A launch under construction.
struct Launch {
  mlir::gpu::LaunchOp op;
  mlir::OpBuilder inside; ///< Inside the bounds check.
  mlir::Value number;     ///< Number of the invocation or workgroup.
  mlir::Value
      count; ///< Number of invocations or workgroups: the only constant that stays outside, as a launch parameter.
};

/// Opens a launch of `groups` workgroups, at most `maxGroups`, of `size` invocations each. The bounds check excludes
/// whole workgroups, so either all invocations of a workgroup reach its barriers or none.
Launch openWorkgroups(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr groups, int64_t maxGroups,
                      int64_t size, int64_t maxGrid);

/// Clones constants, and values of pure ops that are not of type index, into the launch. Otherwise they would become
/// launch parameters. `kept` stays a parameter.
void sinkScalars(mlir::gpu::LaunchOp launch, mlir::Value kept = nullptr);

/// Returns the first index of a tile along each loop, computed from the tile's number. The last loop is the fastest. A
/// loop whose count is null has no index. `factors` are the steps of a tile.
llvm::SmallVector<mlir::Value> splitNumber(mlir::OpBuilder &builder, mlir::Location loc,
                                           llvm::ArrayRef<int64_t> factors, llvm::ArrayRef<mlir::OpFoldResult> counts,
                                           mlir::Value number);

/// Returns the maximum number of iterations, over all loops, that an invocation runs for one tile, or `kMaxIterations`
/// + 1 if there may be more. The invocation runs one of `share.count` shares of loop `share.loop`.
int64_t countIterations(const TileEmitter &emitter, const ReductionShare &share = {});

/// Cuts sums into blocks, so that errors do not grow with the number of all terms. The blocks become longer, up to the
/// whole sum, if the additional loops would exceed `kMaxIterations`. An invocation runs one of `share.count` shares of
/// loop `share.loop`.
void cutSums(TileEmitter &emitter, const ReductionShare &share = {});

/// Returns the loops along which the last tile may reach over the end.
llvm::SmallVector<size_t> findRagged(const LoopNestShape &shape, const TileShape &tile);

} // namespace inlay

#endif // INLAY_LIB_TARGET_VULKAN_GPU_LAUNCH_H
