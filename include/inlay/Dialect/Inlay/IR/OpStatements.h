// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes with which an op of any dialect declares properties that cannot be derived from the op itself.

#ifndef INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H
#define INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H

#include "llvm/ADT/StringRef.h"

namespace inlay {

/// UnitAttr: the op is a constant. It has no operands or regions.
inline constexpr llvm::StringLiteral kConstantAttr = "inlay.constant";
/// DenseI64ArrayAttr of operand numbers: the op writes the memory of these operands. It may read all operands and
/// accesses no other memory.
inline constexpr llvm::StringLiteral kWritesAttr = "inlay.writes";
/// DenseI64ArrayAttr of operand numbers, only with `inlay.writes`: the results may share memory with these operands.
inline constexpr llvm::StringLiteral kAliasesAttr = "inlay.aliases";
/// IntegerAttr on a list argument of a function: the number of elements of the list, at least 1.
inline constexpr llvm::StringLiteral kLengthAttr = "inlay.length";
/// UnitAttr, added by partitioning: the op unpacks a list or tuple argument of the function, or rebuilds it.
inline constexpr llvm::StringLiteral kUnpackedAttr = "inlay.unpacked";

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H
