// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How graph ops become calls of the host's library: what a call is made of until its last op is known, and what follows
// a product that a call can take in.

#ifndef INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H
#define INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"

namespace inlay {

/// A call in the making: it computes what `absorbed` does, the last of which its result replaces.
struct LibraryCall {
  explicit LibraryCall(plan::HostKernelKind kind) : kind(kind) {}

  plan::HostKernelKind kind;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps; ///< of a contraction, from its loops to the dims of each input
  mlir::AffineMap resultMap;               ///< likewise
  llvm::SmallVector<mlir::Attribute> postOps;
  mlir::NamedAttrList config;
  llvm::SmallVector<int64_t> window; ///< of a convolution
  llvm::SmallVector<mlir::Operation *> absorbed;

  mlir::Value getResult() const { return absorbed.back()->getResult(0); }
};

/// Refuses ops on other elements than f32, without elements, or with dims that nothing says.
mlir::LogicalResult checkOperands(mlir::PatternRewriter &rewriter, mlir::Operation *op);

/// Refuses products of so few multiplications, of known number, that a call costs more than they do.
mlir::LogicalResult checkWork(mlir::PatternRewriter &rewriter, mlir::Operation *op, llvm::ArrayRef<int64_t> loops);

/// Adds an input to a contraction: what `value` permutes, if it does, read by the permuted map.
void addInput(LibraryCall &call, mlir::Value value, mlir::AffineMap map);

/// Takes in the only users of the result, one after the other, that the library can compute on its way.
void absorbUsers(LibraryCall &call);

/// The result of the call on its own, in the shape of `init`.
mlir::Value createCall(mlir::PatternRewriter &rewriter, mlir::Location loc, const LibraryCall &call, mlir::Value init);

/// Replaces the absorbed ops by the call.
void replaceAbsorbed(mlir::PatternRewriter &rewriter, const LibraryCall &call);

/// A function that the library has, and ops that compute it and nothing else.
struct Activation {
  plan::PostOpAttr postOp;
  llvm::SmallVector<mlir::Operation *> ops; ///< in order
};

/// The function of most ops that all users of `start` are part of.
std::optional<Activation> matchActivation(mlir::Value start);

void populateLibraryAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateLibraryConvolutionPatterns(mlir::RewritePatternSet &patterns);
void populateLibraryProductPatterns(mlir::RewritePatternSet &patterns);

} // namespace inlay

#endif // INLAY_LIB_TARGET_HOST_LIBRARYCALLS_LIBRARYCALLS_H
