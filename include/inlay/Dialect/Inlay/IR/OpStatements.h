// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes by which an op of any dialect says of itself what nothing else does.

#ifndef INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H
#define INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H

#include "llvm/ADT/StringRef.h"

namespace inlay {

/// Unit: the op is a constant. It has no operands or regions.
inline constexpr llvm::StringLiteral kConstantAttr = "inlay.constant";
/// Operand numbers as array<i64>: the op writes the memory of these, may read all operands, and touches nothing else.
inline constexpr llvm::StringLiteral kWritesAttr = "inlay.writes";
/// Operand numbers beside `inlay.writes`: the op's results may share memory with these.
inline constexpr llvm::StringLiteral kAliasesAttr = "inlay.aliases";
/// On an argument of a function, a list: how many it holds, at least 1.
inline constexpr llvm::StringLiteral kLengthAttr = "inlay.length";
/// Unit, written by partitioning: the op takes a list or tuple apart, an argument of the function, or makes it again.
inline constexpr llvm::StringLiteral kUnpackedAttr = "inlay.unpacked";

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_OPSTATEMENTS_H
