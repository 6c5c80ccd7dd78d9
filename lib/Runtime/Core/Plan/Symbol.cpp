// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infix text of expressions.

#include "inlay/Runtime/Core/Symbol.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt {

Expr valueOf(const Symbol &symbol) {
  Expr negated = Expr::binary(Expr::Op::Mul, Expr(symbol.offset), Expr(-1));
  Expr shifted = Expr::binary(Expr::Op::Add, Expr::dim(symbol.input, symbol.dim), negated);
  return Expr::binary(Expr::Op::FloorDiv, shifted, Expr(symbol.scale));
}

namespace {

/// Precedence of the outermost operator of a piece of text.
enum class Binding { Sum, Product, Atom };

struct Piece {
  std::string text;
  Binding binding;

  std::string within(Binding place) const { return binding < place ? "(" + text + ")" : text; }
  bool isNumber() const { return text.find_first_not_of("-0123456789") == std::string::npos; }
};

class Speller {
public:
  Speller(const Expr &expr, const std::vector<Symbol> &symbols) : code_(expr.code()) {
    for (const Symbol &symbol : symbols)
      if (!symbol.name.empty())
        names_.emplace_back(valueOf(symbol).code(), symbol.name);
    // Longest first, because a symbol's value may be a part of another's.
    std::stable_sort(names_.begin(), names_.end(),
                     [](const auto &a, const auto &b) { return a.first.size() > b.first.size(); });
  }

  std::string run();

private:
  using Code = std::vector<Expr::Instruction>;

  bool spellSymbol(size_t &at);
  bool spellOperation(Expr::Op op);

  const Code &code_;
  std::vector<std::pair<Code, std::string>> names_;
  std::vector<Piece> stack_;
};

} // namespace

/// If the value of a symbol starts at instruction `at`, emits the symbol's name and moves `at` to its last instruction.
bool Speller::spellSymbol(size_t &at) {
  auto same = [](const Expr::Instruction &a, const Expr::Instruction &b) {
    return a.op == b.op && a.a == b.a && a.b == b.b;
  };
  for (const auto &[value, name] : names_) {
    if (code_.size() - at < value.size() || !std::equal(value.begin(), value.end(), code_.begin() + at, same))
      continue;
    stack_.push_back({name, Binding::Atom});
    at += value.size() - 1;
    return true;
  }
  return false;
}

bool Speller::spellOperation(Expr::Op op) {
  if (stack_.size() < 2)
    return false;
  Piece rhs = std::move(stack_.back());
  stack_.pop_back();
  Piece &lhs = stack_.back();
  if (op == Expr::Op::Mul && rhs.isNumber() && !lhs.isNumber())
    std::swap(lhs, rhs);
  switch (op) {
  case Expr::Op::Add:
    lhs.text += rhs.text.front() == '-' ? " - " + rhs.text.substr(1) : " + " + rhs.text;
    lhs.binding = Binding::Sum;
    return true;
  case Expr::Op::Mul:
  case Expr::Op::FloorDiv:
  case Expr::Op::Mod: {
    const char *sign = op == Expr::Op::Mul ? "*" : op == Expr::Op::FloorDiv ? "//" : " % ";
    lhs = {lhs.within(Binding::Product) + sign + rhs.within(Binding::Atom), Binding::Product};
    return true;
  }
  case Expr::Op::CeilDiv:
  case Expr::Op::Min:
  case Expr::Op::Max: {
    const char *function = op == Expr::Op::CeilDiv ? "ceildiv" : op == Expr::Op::Min ? "min" : "max";
    lhs = {fmt::format("{}({}, {})", function, lhs.text, rhs.text), Binding::Atom};
    return true;
  }
  default:
    return false;
  }
}

std::string Speller::run() {
  for (size_t at = 0; at < code_.size(); ++at) {
    if (spellSymbol(at))
      continue;
    const Expr::Instruction &instruction = code_[at];
    if (instruction.op == Expr::Op::Constant)
      stack_.push_back({fmt::format("{}", instruction.a), Binding::Atom});
    else if (instruction.op == Expr::Op::Dim)
      stack_.push_back({fmt::format("d{}.{}", instruction.a, instruction.b), Binding::Atom});
    else if (!spellOperation(instruction.op))
      return "<malformed>";
  }
  return stack_.size() == 1 ? stack_.back().text : "<malformed>";
}

std::string spell(const Expr &expr, const std::vector<Symbol> &symbols) { return Speller(expr, symbols).run(); }

} // namespace inlay::rt
