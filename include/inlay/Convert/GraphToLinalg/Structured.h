// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for the patterns: linalg.generic from maps and a scalar body, scalar functions for any element type, and
// sizes that fold to constants if they are known.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H
#define INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace inlay {

/// Emits a scalar function of the given arguments and returns its result.
using ScalarBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// The size of each dim: an attribute if it is known, else a value of type index.
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

//===-- Generics ------------------------------------------------------------------------------------------------===//

/// Creates a parallel linalg.generic over `sizes`. `maps` are the indexing maps of the inputs.
mlir::Value createPointwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                            mlir::Type element, ScalarBody body);

/// Creates a linalg.generic that accumulates into `init`. The last of `maps` is the map of `init`; the loops that it
/// does not use are reductions. The last argument of the body is the accumulator.
mlir::Value createReduction(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value init, ScalarBody body);

/// Creates a tensor whose elements are all `value`.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         mlir::TypedAttr value);

/// Creates the initial accumulator of a sum of products: `bias`, read through `map`, or zeros if `bias` is null.
mlir::Value createStart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value bias, mlir::AffineMap map,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);

/// Casts the elements of `tensor` to `element`.
mlir::Value castElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::Type element);

/// Splits dim `dim` of `value` into a dim of size `groups` and a dim of size `size / groups`. The size of the dim must
/// be static and a multiple of `groups`.
mlir::Value splitDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim, int64_t groups);

/// Merges dim `dim` of `value` with the next dim.
mlir::Value mergeDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim);

//===-- Maps and sizes ------------------------------------------------------------------------------------------===//

/// Returns a map from loops 0..loops-1 to `exprs`.
mlir::AffineMap makeMap(mlir::MLIRContext *context, unsigned loops, llvm::ArrayRef<mlir::AffineExpr> exprs);

/// Returns the map by which loops over `sizes` read a tensor of `shape`. Dims are aligned at the back. A dim of size 1
/// is read at index 0 if its loop is longer.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Returns the identity map without the results of the loops in `dropped`.
mlir::AffineMap dropLoops(mlir::MLIRContext *context, unsigned loops, llvm::ArrayRef<int64_t> dropped);

/// Returns the size of a dim of `value`: a constant, or an expression of the function's symbols or of dims of its
/// arguments.
mlir::OpFoldResult getSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim);
/// Returns the sizes of all dims of `value`.
Sizes getSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Returns the sum of two sizes.
mlir::OpFoldResult addSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult lhs,
                            mlir::OpFoldResult rhs);
/// Returns the size as a scalar of the integer type `type`.
mlir::Value castSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult size, mlir::Type type);

/// Returns the sizes that `values` broadcast to, without the last `dropBack` dims of each value.
Sizes broadcastSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values, unsigned dropBack = 0);

//===-- Scalars -------------------------------------------------------------------------------------------------===//

/// Returns the type in which sums of `element` are accumulated: f32 for 16-bit floats, else `element`.
mlir::Type accumulatorType(mlir::Type element);

/// Creates a scalar constant of a float or integer type.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// Casts a scalar as PyTorch does on x86. Floats are truncated towards zero when they become integers; a float that
/// does not fit becomes the smallest integer of 32 or 64 bits first. The cast to bool compares with zero. Casts of
/// 16-bit floats go through f32.
mlir::Value castScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);

mlir::Value addScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
mlir::Value mulScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
/// The body of a sum of products: returns the third argument plus the product of the first two, all cast to the type of
/// the third.
mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
/// Returns the larger value, or NaN if either is NaN.
mlir::Value maxScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

/// Returns the smaller value, or NaN if either is NaN.
mlir::Value minScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

/// Returns the neutral value of `maxScalars`: minus infinity, the smallest integer, or false.
mlir::TypedAttr lowestValue(mlir::Type element);
/// Returns the neutral value of `minScalars`: infinity, the largest integer, or true.
mlir::TypedAttr highestValue(mlir::Type element);

/// If `value` is only a permutation of the dims of another tensor, returns that tensor and changes `map` so that it
/// reads the same elements. Otherwise returns `value` and leaves `map` unchanged.
mlir::Value readUnpermuted(mlir::Value value, mlir::AffineMap &map);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H
