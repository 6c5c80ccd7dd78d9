// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the patterns are written with: linalg.generic from maps and a scalar body, scalar functions that fit any element
// type, and sizes that fold to constants where they are known.

#ifndef INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H
#define INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace inlay {

/// Emits a scalar function and returns its value.
using ScalarBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

//===-- Generics ------------------------------------------------------------------------------------------------===//

/// A parallel generic over `sizes`; `maps` say where each input is read.
mlir::Value createPointwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                            mlir::Type element, ScalarBody body);

/// A generic that accumulates into `init`, whose map is the last of `maps`; loops that it doesn't use are reduced.
/// The body's last argument is the accumulator.
mlir::Value createReduction(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value init, ScalarBody body);

/// A tensor full of `value`.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         mlir::TypedAttr value);

/// What a sum of products starts from: `bias`, read through `map`, or zeros if it is null.
mlir::Value createStart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value bias, mlir::AffineMap map,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);

/// `tensor` with its elements cast to `element`.
mlir::Value castElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::Type element);

/// `value` with dim `dim`, whose size is known, split into `groups` times the rest.
mlir::Value splitDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim, int64_t groups);

/// `value` with dim `dim` merged with the next one.
mlir::Value mergeDim(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim);

//===-- Maps and sizes ------------------------------------------------------------------------------------------===//

/// A map of loops 0..loops-1 to `exprs`.
mlir::AffineMap makeMap(mlir::MLIRContext *context, unsigned loops, llvm::ArrayRef<mlir::AffineExpr> exprs);

/// The map by which a tensor of `shape` is read under loops over `sizes`, aligned at the back: dims of size 1 stay at 0
/// where the loop is longer.
mlir::AffineMap broadcastMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The identity without the loops in `dropped`.
mlir::AffineMap dropLoops(mlir::MLIRContext *context, unsigned loops, llvm::ArrayRef<int64_t> dropped);

/// The size of a dim of `value`: a constant, or by the symbols of the function or the dims of its arguments.
mlir::OpFoldResult getSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim);
/// The sizes of all dims of `value`.
Sizes getSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The sum of two sizes.
mlir::OpFoldResult addSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult lhs,
                            mlir::OpFoldResult rhs);
/// The size as a scalar of an integer type.
mlir::Value castSize(mlir::OpBuilder &builder, mlir::Location loc, mlir::OpFoldResult size, mlir::Type type);

/// The sizes that `values` broadcast to, without the last `dropBack` dims of each.
Sizes broadcastSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values, unsigned dropBack = 0);

//===-- Scalars -------------------------------------------------------------------------------------------------===//

/// The type that sums of `element` are kept in: f32 for the 16-bit floats, else itself.
mlir::Type accumulatorType(mlir::Type element);

/// A scalar constant of a float or integer type.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// The value cast as PyTorch does on x86: floats truncated towards zero when made integers, by way of the least integer
/// of 32 or 64 bits where they don't fit; booleans by a test against zero; 16-bit floats by way of f32.
mlir::Value castScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type);

mlir::Value addScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
mlir::Value mulScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
/// The body of a product that is summed up: the third argument plus the first times the second, all cast to its type.
mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange args);
/// The larger value, NaN if either is.
mlir::Value maxScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

/// The smaller value, NaN if either is.
mlir::Value minScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);

/// The value that `maxScalars` never prefers: minus infinity, the least integer, false.
mlir::TypedAttr lowestValue(mlir::Type element);
/// The value that `minScalars` never prefers: infinity, the greatest integer, true.
mlir::TypedAttr highestValue(mlir::Type element);

/// What is read instead of `value`, through `map`, if that is only a permutation of the dims of something else.
mlir::Value readUnpermuted(mlir::Value value, mlir::AffineMap &map);

} // namespace inlay

#endif // INLAY_CONVERT_GRAPHTOLINALG_STRUCTURED_H
