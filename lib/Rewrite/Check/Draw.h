// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws random types and attributes for one op. Likely values are preferred (equal sizes, suffixes, permutations of all
// dims). The definition of the op decides whether they are valid.

#ifndef INLAY_LIB_REWRITE_CHECK_DRAW_H
#define INLAY_LIB_REWRITE_CHECK_DRAW_H

#include "Hints.h"
#include "Random.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

namespace inlay {

using Shape = llvm::SmallVector<int64_t>; ///< May have dynamic dims.

/// The sizes and the element type that an instance is drawn from. There are few sizes, so that dims are often equal,
/// and one element type unless hints ask for another.
struct Palette {
  llvm::SmallVector<int64_t> sizes;
  mlir::Type dtype;
  int64_t unknown = 0; ///< Size that types may leave dynamic; 0 for none.

  Palette(Random &random, mlir::Type dtype, bool dynamic);
};

/// Draws a shape for one more operand of an op. `otherShapes` are the shapes of the other operands.
Shape drawShape(const Palette &palette, llvm::ArrayRef<Shape> otherShapes, Random &random);

/// The properties of an op that its attributes may depend on.
struct OpContext {
  llvm::StringRef op;
  llvm::ArrayRef<Shape> operands;
  mlir::RankedTensorType result; ///< Null if not known yet.
};

/// Draws a value for an attribute of an op of the dialect. Returns null if the attribute is to be left out this time.
/// Fails if the name of the attribute is unknown.
mlir::FailureOr<mlir::Attribute> drawAttribute(llvm::StringRef name, const OpContext &context, const Palette &palette,
                                               mlir::MLIRContext *mlir, Random &random);

} // namespace inlay

#endif // INLAY_LIB_REWRITE_CHECK_DRAW_H
