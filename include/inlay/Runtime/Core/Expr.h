// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan's one closed form for integers known only at a call: sizes, grids, push constants. An expression over the
// dims of the program's inputs, kept as postfix code; there are no variables, loops or calls, so it always ends.

#ifndef INLAY_RUNTIME_CORE_EXPR_H
#define INLAY_RUNTIME_CORE_EXPR_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <vector>

namespace inlay::rt {

/// Dims of each input of a call, as the caller gave them.
using InputDims = std::vector<std::vector<int64_t>>;

class Expr {
public:
  enum class Op : uint8_t { Constant, Dim, Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max };

  /// One postfix instruction. Constant: `a` is the value. Dim: input `a`, dim `b`. Else: pops two, pushes one.
  struct Instruction {
    Op op;
    int64_t a = 0;
    int64_t b = 0;
  };

  Expr() : Expr(0) {}
  Expr(int64_t value) : code_{{Op::Constant, value, 0}} {}
  /// Takes postfix code as it stands; `evaluate` reports malformed code.
  explicit Expr(std::vector<Instruction> code) : code_(std::move(code)) {}

  static Expr dim(int64_t input, int64_t dim) { return Expr({{Op::Dim, input, dim}}); }
  /// `lhs op rhs`, folded when both are constant and the result exists, or when one is neutral (x + 0, x * 1, x / 1).
  static Expr binary(Op op, const Expr &lhs, const Expr &rhs);

  /// An error unless the code is well formed and names only dims of inputs with these ranks.
  Status check(const std::vector<size_t> &inputRanks) const;

  /// The value for these inputs; an error on malformed code, a dim that isn't there, division by zero or overflow.
  StatusOr<int64_t> evaluate(const InputDims &inputs) const;

  /// True if the value is the same for all inputs and is in `value`.
  bool isConstant(int64_t &value) const;

  const std::vector<Instruction> &code() const { return code_; }

private:
  std::vector<Instruction> code_;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_EXPR_H
