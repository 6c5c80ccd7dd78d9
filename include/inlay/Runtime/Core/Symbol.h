// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbol: a size that is known only at a call, with a name for messages.

#ifndef INLAY_RUNTIME_CORE_SYMBOL_H
#define INLAY_RUNTIME_CORE_SYMBOL_H

#include "inlay/Runtime/Core/Expr.h"

#include <limits>
#include <string>

namespace inlay::rt {

/// A named open dim. A call defines its value by one dim of an input, which is `scale` * symbol + `offset`.
struct Symbol {
  std::string name;
  int64_t min = 0;                                   ///< Smallest value that it may have.
  int64_t max = std::numeric_limits<int64_t>::max(); ///< Largest value; the maximum of 64 bits means no bound.
  uint32_t input = 0;
  uint32_t dim = 0;
  int64_t scale = 1;
  int64_t offset = 0;
};

/// Returns the symbol's value, rounded down if no whole value gives the dim.
Expr valueOf(const Symbol &symbol);

/// Returns infix text with the symbols' names: "2*batch + 1". A dim that belongs to no symbol with a name is
/// d<input>.<dim>.
std::string spell(const Expr &expr, const std::vector<Symbol> &symbols);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_SYMBOL_H
