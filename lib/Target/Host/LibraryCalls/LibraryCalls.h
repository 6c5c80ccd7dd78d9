// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms calls of the host library from graph ops: collects the parts of a call until its last op is known, and absorbs
// the ops that follow a product.

#ifndef INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H
#define INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// A call under construction. It computes the ops in `absorbed`, and its result replaces the result of the last one.
struct LibraryCall {
  explicit LibraryCall(plan::HostKernelKind kind) : kind(kind) {}

  plan::HostKernelKind kind;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps; ///< Maps of a contraction from its loops to the dims of each input.
  mlir::AffineMap resultMap;               ///< Map of a contraction from its loops to the dims of the result.
  llvm::SmallVector<mlir::Attribute> postOps;
  mlir::NamedAttrList config;
  llvm::SmallVector<int64_t> window; ///< Window of a convolution.
  llvm::SmallVector<mlir::Operation *> absorbed;

  mlir::Value getResult() const { return absorbed.back()->getResult(0); }
};

/// Refuses ops whose elements are not f32, that have no elements, or whose dims are unknown.
mlir::LogicalResult checkOperands(mlir::PatternRewriter &rewriter, mlir::Operation *op);

/// Refuses products with so few multiplications that a call would cost more. Products with dynamic dims are never
/// refused.
mlir::LogicalResult checkWork(mlir::PatternRewriter &rewriter, mlir::Operation *op, llvm::ArrayRef<int64_t> loops);

/// Adds an input to a contraction. If `value` is a permutation, adds the operand of the permutation with a permuted
/// `map`.
void addInput(LibraryCall &call, mlir::Value value, mlir::AffineMap map);

/// Absorbs users of the result that the library can compute, one after the other, as long as the result has no other
/// user.
void absorbUsers(LibraryCall &call);

/// Creates the call, whose result has the shape of `init`.
mlir::Value createCall(mlir::PatternRewriter &rewriter, mlir::Location loc, const LibraryCall &call, mlir::Value init);

/// Replaces the absorbed ops by the call.
void replaceAbsorbed(mlir::PatternRewriter &rewriter, const LibraryCall &call);

/// A library function and the ops that compute it.
struct Activation {
  plan::PostOpAttr postOp;
  llvm::SmallVector<mlir::Operation *> ops; ///< In order.
};

/// Returns the function with the most ops such that its ops include all users of `start`, or nullopt.
std::optional<Activation> matchActivation(mlir::Value start);

/// Returns true if `op` is a product with a matrix of codes that a library kernel reads.
bool hasQuantizedWeight(mlir::Operation *op);

void populateLibraryAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateLibraryConvolutionPatterns(mlir::RewritePatternSet &patterns);
void populateLibraryProductPatterns(mlir::RewritePatternSet &patterns);
/// Their benefit is above that of the patterns for other products.
void populateLibraryQuantizedProductPatterns(mlir::RewritePatternSet &patterns);
/// Their benefit is above that of the patterns for products with quantized weights.
void populateLibraryIntegerProductPatterns(mlir::RewritePatternSet &patterns);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H
