// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of plan expressions: a stack machine in which every operation reports errors.

#include "inlay/Runtime/Core/Expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace inlay::rt {

static const char *opName(Expr::Op op) {
  switch (op) {
  case Expr::Op::Constant:
    return "constant";
  case Expr::Op::Dim:
    return "dim";
  case Expr::Op::Add:
    return "add";
  case Expr::Op::Mul:
    return "mul";
  case Expr::Op::FloorDiv:
    return "floordiv";
  case Expr::Op::CeilDiv:
    return "ceildiv";
  case Expr::Op::Mod:
    return "mod";
  case Expr::Op::Min:
    return "min";
  case Expr::Op::Max:
    return "max";
  }
  return nullptr;
}

/// Computes the quotient rounded down, and the remainder with the divisor's sign.
static void floorDivide(int64_t lhs, int64_t rhs, int64_t &quotient, int64_t &remainder) {
  quotient = lhs / rhs;
  remainder = lhs % rhs;
  if (remainder != 0 && (remainder < 0) != (rhs < 0)) {
    --quotient;
    remainder += rhs;
  }
}

static Status divide(Expr::Op op, int64_t lhs, int64_t rhs, int64_t &result) {
  if (rhs == 0)
    return {StatusCode::InvalidArgument, fmt::format("{}({}, 0) divides by zero", opName(op), lhs)};
  if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1) {
    result = 0;
    if (op == Expr::Op::Mod)
      return Status::ok();
    return {StatusCode::InvalidArgument, fmt::format("{}({}, -1) overflows 64 bits", opName(op), lhs)};
  }
  int64_t quotient, remainder;
  floorDivide(lhs, rhs, quotient, remainder);
  if (op == Expr::Op::Mod)
    result = remainder;
  else
    result = quotient + (op == Expr::Op::CeilDiv && remainder != 0 ? 1 : 0);
  return Status::ok();
}

static Status apply(Expr::Op op, int64_t lhs, int64_t rhs, int64_t &result) {
  bool overflow = false;
  switch (op) {
  case Expr::Op::Add:
    overflow = __builtin_add_overflow(lhs, rhs, &result);
    break;
  case Expr::Op::Mul:
    overflow = __builtin_mul_overflow(lhs, rhs, &result);
    break;
  case Expr::Op::Min:
    result = std::min(lhs, rhs);
    break;
  case Expr::Op::Max:
    result = std::max(lhs, rhs);
    break;
  case Expr::Op::FloorDiv:
  case Expr::Op::CeilDiv:
  case Expr::Op::Mod:
    return divide(op, lhs, rhs, result);
  default:
    return {StatusCode::InvalidArgument, fmt::format("unknown expression operation {}", static_cast<int>(op))};
  }
  if (overflow)
    return {StatusCode::InvalidArgument, fmt::format("{}({}, {}) overflows 64 bits", opName(op), lhs, rhs)};
  return Status::ok();
}

static Status readDim(const Expr::Instruction &instruction, const InputDims &inputs, int64_t &result) {
  auto [op, input, dim] = instruction;
  if (input < 0 || static_cast<uint64_t>(input) >= inputs.size())
    return {StatusCode::InvalidArgument,
            fmt::format("expression reads input {}, but there are {}", input, inputs.size())};
  const std::vector<int64_t> &dims = inputs[input];
  if (dim < 0 || static_cast<uint64_t>(dim) >= dims.size())
    return {StatusCode::InvalidArgument,
            fmt::format("expression reads dim {} of input {}, which has rank {}", dim, input, dims.size())};
  result = dims[dim];
  return Status::ok();
}

static Status malformed() {
  return {StatusCode::InvalidArgument, "malformed expression: its operands don't match its operations"};
}

/// Runs postfix code on a stack with place for a value of each instruction.
static StatusOr<int64_t> run(const std::vector<Expr::Instruction> &code, const InputDims &inputs, int64_t *stack) {
  size_t depth = 0;
  for (const Expr::Instruction &instruction : code) {
    int64_t result = instruction.a;
    if (instruction.op == Expr::Op::Dim) {
      INLAY_RETURN_IF_ERROR(readDim(instruction, inputs, result));
    } else if (instruction.op != Expr::Op::Constant) {
      if (depth < 2)
        return malformed();
      depth -= 2;
      INLAY_RETURN_IF_ERROR(apply(instruction.op, stack[depth], stack[depth + 1], result));
    }
    stack[depth++] = result;
  }
  if (depth != 1)
    return malformed();
  return stack[0];
}

StatusOr<int64_t> Expr::evaluate(const InputDims &inputs) const {
  if (code_.size() == 1 && code_[0].op == Op::Constant)
    return code_[0].a;
  constexpr size_t kSmall = 32; // most code is shorter and needs no allocation
  if (code_.size() <= kSmall) {
    int64_t stack[kSmall];
    return run(code_, inputs, stack);
  }
  std::vector<int64_t> stack(code_.size());
  return run(code_, inputs, stack.data());
}

Status Expr::check(const std::vector<size_t> &inputRanks) const {
  size_t depth = 0;
  for (const Instruction &instruction : code_) {
    if (!opName(instruction.op))
      return {StatusCode::InvalidArgument,
              fmt::format("unknown expression operation {}", static_cast<int>(instruction.op))};
    if (instruction.op == Op::Dim) {
      bool inRange = instruction.a >= 0 && static_cast<uint64_t>(instruction.a) < inputRanks.size() &&
                     instruction.b >= 0 && static_cast<uint64_t>(instruction.b) < inputRanks[instruction.a];
      if (!inRange)
        return {StatusCode::InvalidArgument,
                fmt::format("expression reads dim {} of input {}, which doesn't exist", instruction.b, instruction.a)};
    }
    bool leaf = instruction.op == Op::Dim || instruction.op == Op::Constant;
    if (!leaf && depth < 2)
      return malformed();
    depth += leaf ? 1 : -1;
  }
  return depth == 1 ? Status::ok() : malformed();
}

bool Expr::isConstant(int64_t &value) const {
  for (const Instruction &instruction : code_)
    if (instruction.op == Op::Dim)
      return false;
  StatusOr<int64_t> result = evaluate({});
  if (result.isOk())
    value = *result;
  return result.isOk();
}

/// Returns true if `lhs op rhs` equals `lhs` for all `lhs`.
static bool isNeutralRight(Expr::Op op, int64_t rhs) {
  if (op == Expr::Op::Add)
    return rhs == 0;
  return rhs == 1 && (op == Expr::Op::Mul || op == Expr::Op::FloorDiv || op == Expr::Op::CeilDiv);
}

Expr Expr::binary(Op op, const Expr &lhs, const Expr &rhs) {
  int64_t left = 0, right = 0, result = 0;
  bool leftConstant = lhs.isConstant(left), rightConstant = rhs.isConstant(right);
  if (leftConstant && rightConstant && apply(op, left, right, result).isOk())
    return Expr(result);
  if (rightConstant && isNeutralRight(op, right))
    return lhs;
  if (leftConstant && (op == Op::Add || op == Op::Mul) && isNeutralRight(op, left))
    return rhs;
  std::vector<Instruction> code = lhs.code_;
  code.insert(code.end(), rhs.code_.begin(), rhs.code_.end());
  code.push_back({op, 0, 0});
  return Expr(std::move(code));
}

} // namespace inlay::rt
