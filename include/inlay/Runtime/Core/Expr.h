// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expr: integers of a plan that are known only at a call, such as sizes, grids and push constants. An Expr is an
// expression over the dims of the program's inputs, stored as postfix code. It has no variables, loops or calls, so it
// always ends.

#ifndef INLAY_RUNTIME_CORE_EXPR_H
#define INLAY_RUNTIME_CORE_EXPR_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <vector>

namespace inlay::rt {

/// Dims of each input of a call, as given by the caller.
using InputDims = std::vector<std::vector<int64_t>>;

class Expr {
public:
  enum class Op : uint8_t { Constant, Dim, Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max };

  /// One postfix instruction. Constant: `a` is the value. Dim: dim `b` of input `a`. Others pop two values and push
  /// one.
  struct Instruction {
    Op op;
    int64_t a = 0;
    int64_t b = 0;
  };

  Expr() : Expr(0) {}
  Expr(int64_t value) : code_{{Op::Constant, value, 0}} {}
  /// Stores postfix code without checking it; `evaluate` reports malformed code.
  explicit Expr(std::vector<Instruction> code) : code_(std::move(code)) {}

  static Expr dim(int64_t input, int64_t dim) { return Expr({{Op::Dim, input, dim}}); }
  /// Returns `lhs op rhs`. Folds it if both are constant and the result fits, or if one is neutral (x + 0, x * 1, x /
  /// 1).
  static Expr binary(Op op, const Expr &lhs, const Expr &rhs);

  /// Returns an error unless the code is well formed and names only dims of inputs with these ranks.
  Status check(const std::vector<size_t> &inputRanks) const;

  /// Returns the value for these inputs, or an error for malformed code, a missing dim, division by zero or overflow.
  StatusOr<int64_t> evaluate(const InputDims &inputs) const;

  /// Returns true if the value is the same for all inputs, and stores it in `value`.
  bool isConstant(int64_t &value) const;

  const std::vector<Instruction> &code() const { return code_; }

private:
  std::vector<Instruction> code_;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_EXPR_H
