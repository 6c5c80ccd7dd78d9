// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbol: a size that is known at a call alone, by the name that messages call it.

#ifndef INLAY_RUNTIME_CORE_SYMBOL_H
#define INLAY_RUNTIME_CORE_SYMBOL_H

#include "inlay/Runtime/Core/Expr.h"

#include <limits>
#include <string>

namespace inlay::rt {

/// A call says its value by one dim of an input, which is `scale` * symbol + `offset`.
struct Symbol {
  std::string name;
  int64_t min = 0;                                   ///< the smallest value it may have
  int64_t max = std::numeric_limits<int64_t>::max(); ///< the largest one, which is no bound if it is that of 64 bits
  uint32_t input = 0;
  uint32_t dim = 0;
  int64_t scale = 1;
  int64_t offset = 0;
};

/// The symbol's value, rounded down if the dim is none that a value leads to.
Expr valueOf(const Symbol &symbol);

/// Infix text by the symbols' names: "2*batch + 1". A dim that belongs to no symbol is d<input>.<dim>.
std::string spell(const Expr &expr, const std::vector<Symbol> &symbols);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_SYMBOL_H
