// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzz target: expressions. Values are compared with those of an interpreter that computes in 128 bits, and the text of
// each expression is written.

#include "inlay/Runtime/Core/Symbol.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace inlay::rt;
using Wide = __int128;

/// Returns the value of an operation, or nothing if it has none in 64 bits.
static std::optional<Wide> apply(Expr::Op op, Wide lhs, Wide rhs) {
  Wide result = 0;
  if (op >= Expr::Op::FloorDiv && op <= Expr::Op::Mod && rhs == 0)
    return std::nullopt;
  Wide floor = rhs == 0 ? 0 : lhs / rhs - (lhs % rhs != 0 && (lhs < 0) != (rhs < 0));
  switch (op) {
  case Expr::Op::Add:
    result = lhs + rhs;
    break;
  case Expr::Op::Mul:
    result = lhs * rhs;
    break;
  case Expr::Op::FloorDiv:
    result = floor;
    break;
  case Expr::Op::CeilDiv:
    result = floor + (floor * rhs != lhs);
    break;
  case Expr::Op::Mod:
    result = lhs - floor * rhs;
    break;
  case Expr::Op::Min:
    result = std::min(lhs, rhs);
    break;
  case Expr::Op::Max:
    result = std::max(lhs, rhs);
    break;
  default:
    return std::nullopt;
  }
  return result >= INT64_MIN && result <= INT64_MAX ? std::optional(result) : std::nullopt;
}

/// Returns the value of an expression that `Expr::check` accepts.
static std::optional<Wide> evaluate(const Expr &expr, const InputDims &inputs) {
  std::vector<Wide> stack;
  for (auto [op, a, b] : expr.code()) {
    if (op == Expr::Op::Constant || op == Expr::Op::Dim) {
      stack.push_back(op == Expr::Op::Constant ? a : inputs[static_cast<size_t>(a)][static_cast<size_t>(b)]);
      continue;
    }
    Wide rhs = stack.back();
    stack.pop_back();
    std::optional<Wide> value = apply(op, stack.back(), rhs);
    if (!value)
      return std::nullopt;
    stack.back() = *value;
  }
  return stack.back();
}

static int64_t takeNumber(FuzzedDataProvider &data) {
  static constexpr int64_t kNumbers[] = {0, 1, -1, 2, 3, -7, INT64_MAX, INT64_MIN, int64_t(1) << 32, 1000};
  return data.ConsumeBool() ? data.PickValueInArray(kNumbers) : data.ConsumeIntegral<int64_t>();
}

static Expr takeExpr(FuzzedDataProvider &data) {
  std::vector<Expr::Instruction> code;
  for (size_t count = data.ConsumeIntegralInRange<size_t>(0, 64); count > 0; --count) {
    auto op = static_cast<Expr::Op>(data.ConsumeIntegralInRange<int>(0, 9)); // 9 is no operation
    if (op == Expr::Op::Dim)
      code.push_back({op, data.ConsumeIntegralInRange<int>(-1, 3), data.ConsumeIntegralInRange<int>(-1, 3)});
    else
      code.push_back({op, takeNumber(data), 0});
  }
  return Expr(std::move(code));
}

static void expect(bool holds) {
  if (!holds)
    std::abort();
}

/// Compares the value and the text of `expr`. Returns true if it is well formed.
static bool compare(const Expr &expr, const InputDims &inputs, const std::vector<size_t> &ranks,
                    const std::vector<Symbol> &symbols) {
  Status sound = expr.check(ranks);
  StatusOr<int64_t> value = expr.evaluate(inputs);
  expect(value.isOk() || !value.status().message().empty());
  if (!sound.isOk()) {
    expect(!sound.message().empty() && !value.isOk());
    return false;
  }
  std::optional<Wide> wanted = evaluate(expr, inputs);
  expect(value.isOk() == wanted.has_value() && (!wanted || *value == *wanted));
  int64_t constant = 0;
  if (expr.isConstant(constant))
    expect(value.isOk() && *value == constant);
  expect(!spell(expr, symbols).empty());
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  InputDims inputs(data.ConsumeIntegralInRange<size_t>(0, 3));
  std::vector<size_t> ranks;
  for (std::vector<int64_t> &dims : inputs) {
    for (size_t rank = data.ConsumeIntegralInRange<size_t>(0, 3); rank > 0; --rank)
      dims.push_back(takeNumber(data));
    ranks.push_back(dims.size());
  }
  std::vector<Symbol> symbols;
  if (data.ConsumeBool())
    symbols.push_back({data.ConsumeRandomLengthString(8), 0, 100, 0, 0, takeNumber(data), takeNumber(data)});
  Expr lhs = takeExpr(data), rhs = takeExpr(data);
  bool isSound = compare(lhs, inputs, ranks, symbols) & compare(rhs, inputs, ranks, symbols);
  for (int op = static_cast<int>(Expr::Op::Add); op <= static_cast<int>(Expr::Op::Max) && isSound; ++op) {
    Expr both = Expr::binary(static_cast<Expr::Op>(op), lhs, rhs);
    compare(both, inputs, ranks, symbols);
    StatusOr<int64_t> left = lhs.evaluate(inputs), right = rhs.evaluate(inputs), value = both.evaluate(inputs);
    if (left.isOk() && right.isOk()) {
      std::optional<Wide> wanted = apply(static_cast<Expr::Op>(op), *left, *right);
      expect(value.isOk() == wanted.has_value() && (!wanted || *value == *wanted));
    }
  }
  for (const Symbol &symbol : symbols)
    compare(valueOf(symbol), inputs, ranks, symbols);
  return 0;
}
