// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and attributes drawn for one op. Draws know what is usual (equal sizes, suffixes, permutations of all dims);
// whether the op takes them is for its definition to say.

#ifndef INLAY_LIB_REWRITE_CHECK_DRAW_H
#define INLAY_LIB_REWRITE_CHECK_DRAW_H

#include "Hints.h"
#include "Random.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

namespace inlay {

using Shape = llvm::SmallVector<int64_t>; ///< may have dynamic dims

/// What an instance is drawn from: few sizes, so that dims are often equal, and one element type unless asked.
struct Palette {
  llvm::SmallVector<int64_t> sizes;
  mlir::Type dtype;
  int64_t unknown = 0; ///< the size that types may leave open; 0 for none

  Palette(Random &random, mlir::Type dtype, bool dynamic);
};

/// A shape for one more operand of an op whose other operands have the shapes `beside`.
Shape drawShape(const Palette &palette, llvm::ArrayRef<Shape> beside, Random &random);

/// What an attribute may depend on.
struct OpContext {
  llvm::StringRef op;
  llvm::ArrayRef<Shape> operands;
  mlir::RankedTensorType result; ///< null if it isn't known yet
};

/// A value for the attribute of that name of one of the dialect's ops: null if it is one to leave out this time.
/// Fails if nothing is known of such an attribute.
mlir::FailureOr<mlir::Attribute> drawAttribute(llvm::StringRef name, const OpContext &context, const Palette &palette,
                                               mlir::MLIRContext *mlir, Random &random);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_DRAW_H
