// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomProgram.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace inlay::testing;

namespace {
enum Kind : unsigned { Tensor, Scalar, Bool, List, Tuple, Object, Buffer, kKinds };
constexpr const char *kTypes[kKinds] = {"!t", "i64", "i1", "!l", "!p", "!o", "!m"};

/// The values that ops of a block may use, by kind.
using Scope = std::array<std::vector<std::string>, kKinds>;

class Writer {
public:
  explicit Writer(const RandomProgramOptions &options) : options(options), random(options.seed) {}

  std::string write() {
    Scope scope;
    std::string arguments;
    auto argument = [&](Kind kind) {
      std::string name = "%arg" + std::to_string(arguments.size());
      std::string length = kind == List && chance(50) ? " {inlay.length = 2 : i64}" : "";
      arguments += (arguments.empty() ? "" : ", ") + name + ": " + kTypes[kind] + length;
      scope[kind].push_back(name);
    };
    for (unsigned i = 0; i < 2; ++i)
      argument(Tensor);
    argument(Bool);
    if (options.hasCollections)
      for (Kind kind : {List, Tuple, Object})
        argument(kind);
    if (options.hasEffects)
      for (unsigned i = 0; i < 2; ++i)
        argument(Buffer);
    for (unsigned i = 0; i < 2; ++i)
      emit(define(scope, Tensor) + " = arith.constant dense<" + std::to_string(i) + ".5> : !t", false);
    writeOps(scope, options.ops, 0);
    std::string results, types;
    for (Kind kind : {Tensor, Tensor, Scalar, List, Tuple, Object})
      if (!scope[kind].empty()) {
        results += (results.empty() ? "" : ", ") + pick(scope, kind);
        types += (types.empty() ? "" : ", ") + std::string(kTypes[kind]);
      }
    emit("return " + results + " : " + types, false);
    return "!t = tensor<4xf32>\n!l = !inlay.list<!t>\n!p = tuple<!t, !t>\n!o = !inlay.object<\"Dict\">\n"
           "!m = memref<f32>\nmodule attributes {inlay.targets = [" +
           declareTargets() + "]} {\n  func.func private @unknown(!t) -> !t\n  func.func @main(" + arguments +
           ") -> (" + types + ") {\n" + text + "  }\n}\n";
  }

private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random() % limit); }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::string pick(const Scope &scope, Kind kind) {
    const std::vector<std::string> &values = scope[kind];
    unsigned reach = chance(80) ? options.reach : ~0u;
    unsigned size = static_cast<unsigned>(values.size());
    return values[size - 1 - below(std::min(reach, size))];
  }

  std::string define(Scope &scope, Kind kind) {
    scope[kind].push_back("%v" + std::to_string(values++));
    return scope[kind].back();
  }

  void emit(const std::string &line, bool isNamed = true) {
    text += "    " + line + (isNamed ? " loc(\"n" + std::to_string(ops++) + "\")" : "") + "\n";
  }

  /// Returns one of the calls that targets may declare, with a pin if the options ask for it.
  std::string call(const std::string &name, const std::vector<std::string> &operands, const std::string &effects,
                   const std::string &types, const std::string &results) {
    std::string list, attributes;
    for (const std::string &operand : operands)
      list += (list.empty() ? "" : ", ") + operand;
    if (options.hasPins && effects.empty() && chance(4))
      attributes = " {inlay.target = \"host\"}";
    else if (chance(3))
      attributes = " {inlay.neutral}";
    return "inlay.opaque \"" + name + "\"(" + list + ")" + effects + attributes + " : (" + types + ") -> " + results;
  }

  std::string compute() { return "k" + std::to_string(below(5)); }

  void writeOps(Scope &scope, unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) {
      unsigned dice = below(100);
      if (dice < 45)
        writeCompute(scope);
      else if (dice < 70 && options.hasCollections)
        writeCollection(scope);
      else if (dice < 85 && options.hasEffects)
        writeEffect(scope);
      else if (dice < 94 && options.hasRegions && depth < 3 && below(depth + 1) == 0)
        writeRegion(scope, depth);
      else
        writeWeight(scope);
    }
  }

  void writeCompute(Scope &scope) {
    std::string a = pick(scope, Tensor), b = pick(scope, Tensor);
    switch (below(6)) {
    case 0: {
      std::string right = call(compute(), {a}, "", "!t", "i64");
      return emit(define(scope, Scalar) + " = " + right);
    }
    case 1:
      if (!scope[Scalar].empty()) {
        std::string right = call(compute(), {a, pick(scope, Scalar)}, "", "!t, i64", "!t");
        return emit(define(scope, Tensor) + " = " + right);
      }
      [[fallthrough]];
    case 2:
      return emit(define(scope, Tensor) + " = arith.addf " + a + ", " + b + " : !t");
    case 3: {
      std::string right = call(compute(), {a}, "", "!t", "i1");
      return emit(define(scope, Bool) + " = " + right);
    }
    default: {
      std::string right = call(compute(), {a, b}, "", "!t, !t", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    }
  }

  void writeWeight(Scope &scope) {
    Scope constants;
    for (unsigned i = 0; i < 2; ++i)
      constants[Tensor].push_back("%v" + std::to_string(i));
    std::string name = define(scope, Tensor);
    emit(name + " = " + call("aten::permute", {pick(constants, Tensor)}, "", "!t", "!t"));
    if (chance(30))
      emit(define(scope, Tensor) + " = " + call("aten::view", {name}, "", "!t", "!t"));
  }

  void writeCollection(Scope &scope) {
    std::string a = pick(scope, Tensor), b = pick(scope, Tensor);
    switch (below(12)) {
    case 0:
    case 1: {
      std::string right = call("prim::ListConstruct", {a, b}, "", "!t, !t", "!l");
      return emit(define(scope, List) + " = " + right);
    }
    case 2:
      return emit(define(scope, List) + " = inlay.list " + a + " : (!t) -> !l");
    case 3: {
      std::string right = call("aten::split", {a}, chance(30) ? " aliases [0]" : "", "!t", "!l");
      return emit(define(scope, List) + " = " + right);
    }
    case 4: {
      std::string list = pick(scope, List);
      unsigned first = values;
      values += 2;
      emit("%v" + std::to_string(first) + ", %v" + std::to_string(first + 1) + " = " +
           call("prim::ListUnpack", {list}, "", "!l", "(!t, !t)"));
      scope[Tensor].push_back("%v" + std::to_string(first));
      scope[Tensor].push_back("%v" + std::to_string(first + 1));
      return;
    }
    case 5: {
      std::string right = call("prim::TupleConstruct", {a, b}, "", "!t, !t", "!p");
      return emit(define(scope, Tuple) + " = " + right);
    }
    case 6: {
      std::string right = call("prim::TupleIndex", {pick(scope, Tuple)}, "", "!p", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    case 7: {
      std::string right = call(compute(), {a}, "", "!t", "!o");
      return emit(define(scope, Object) + " = " + right);
    }
    case 8: {
      std::string right = call(compute(), {pick(scope, Object), a}, "", "!o, !t", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    case 9: {
      std::string right = call("aten::__getitem__", {pick(scope, List)}, "", "!l", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    default: {
      std::string right = call(compute(), {pick(scope, List), a}, "", "!l, !t", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    }
  }

  void writeEffect(Scope &scope) {
    std::string a = pick(scope, Tensor), b = pick(scope, Tensor);
    unsigned dice = below(10);
    if (dice < 3 && options.hasCollections)
      return emit(call("aten::append", {pick(scope, List), a}, " writes [0]", "!l, !t", "()"));
    switch (dice) {
    case 0: {
      std::string right = call("aten::view", {a}, " aliases [0]", "!t", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    case 1:
      return emit(call(compute(), {a, b}, " writes [0]", "!t, !t", "()"));
    case 2: {
      std::string right = call(compute(), {a, b}, " writes [0] aliases [0]", "!t, !t", "!t");
      return emit(define(scope, Tensor) + " = " + right);
    }
    case 3:
      if (options.hasCollections)
        return emit(call(compute(), {pick(scope, List), a}, " writes [0]", "!l, !t", "()"));
      [[fallthrough]];
    case 4:
      if (options.hasCollections)
        return emit(call(compute(), {pick(scope, Object), a}, " writes [0]", "!o, !t", "()"));
      [[fallthrough]];
    case 5:
    case 6: {
      std::string name = "%v" + std::to_string(values++);
      return emit(name + " = memref.load " + pick(scope, Buffer) + "[] : !m");
    }
    case 7: {
      std::string name = "%v" + std::to_string(values++);
      emit(name + " = arith.sitofp " + (scope[Scalar].empty() ? "%number" : pick(scope, Scalar)) + " : i64 to f32");
      return emit("memref.store " + name + ", " + pick(scope, Buffer) + "[] : !m");
    }
    case 8:
      return emit(define(scope, Buffer) + " = memref.alloc() : !m");
    default: {
      std::string right = "func.call @unknown(" + a + ") : (!t) -> !t";
      return emit(define(scope, Tensor) + " = " + right);
    }
    }
  }

  /// Adds a region, which may use all values of `outer`. Its own values stay inside.
  std::string writeBody(const Scope &outer, Kind yielded, const std::string &argument, unsigned depth,
                        const std::string &extra = "") {
    std::string before = std::move(text);
    text.clear();
    Scope scope = outer;
    if (!argument.empty())
      scope[yielded].push_back(argument);
    writeOps(scope, below(5), depth + 1);
    if (extra.empty())
      emit("scf.yield " + pick(scope, yielded) + " : " + kTypes[yielded], false);
    else
      emit(extra + pick(scope, yielded) + " : " + kTypes[yielded], false);
    std::string body = std::move(text);
    text = std::move(before);
    return body;
  }

  void writeRegion(Scope &scope, unsigned depth) {
    Kind kind = options.hasCollections && chance(20) ? List : Tensor;
    std::string type = kTypes[kind], init = pick(scope, kind);
    unsigned dice = below(3);
    std::string condition = pick(scope, Bool), inside = "%v" + std::to_string(values++);
    std::string head, line;
    if (dice == 0) {
      std::string first = writeBody(scope, kind, "", depth), second = writeBody(scope, kind, "", depth);
      line = "scf.if " + condition + " -> " + type + " {\n" + first + "    } else {\n" + second + "    }";
    } else if (dice == 1) {
      line = "scf.for " + inside + "i = %c0 to %c2 step %c1 iter_args(" + inside + " = " + init + ") -> " + type +
             " {\n" + writeBody(scope, kind, inside, depth) + "    }";
    } else {
      std::string again = "%v" + std::to_string(values++);
      line = "scf.while (" + inside + " = " + init + ") : (" + type + ") -> " + type + " {\n" +
             writeBody(scope, kind, inside, depth, "scf.condition(" + condition + ") ") + "    } do {\n    ^bb0(" +
             again + ": " + type + "):\n" + writeBody(scope, kind, again, depth) + "    }";
    }
    emit(define(scope, kind) + " = " + line);
  }

  std::string declareTargets() {
    std::vector<std::string> names = {"k0",
                                      "k1",
                                      "k2",
                                      "k3",
                                      "k4",
                                      "arith.addf",
                                      "aten::view",
                                      "aten::permute",
                                      "aten::split",
                                      "aten::append",
                                      "aten::__getitem__",
                                      "prim::ListConstruct",
                                      "inlay.list",
                                      "prim::ListUnpack",
                                      "prim::TupleConstruct",
                                      "prim::TupleIndex",
                                      "scf.if",
                                      "scf.for",
                                      "scf.while"};
    std::string result;
    for (unsigned target = 0; target + 1 < options.targets; ++target) {
      std::string list;
      for (const std::string &name : names)
        if (chance(name[0] == 'k' ? 60 : 85))
          list += (list.empty() ? "\"" : ", \"") + name + "\"";
      result += "#inlay.declared<\"t" + std::to_string(target) + "\", [" + list + "]>, ";
    }
    return result + "#inlay.declared<\"host\", [\"*\"]>";
  }

  const RandomProgramOptions &options;
  std::mt19937 random;
  std::string text = "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
                     "    %c2 = arith.constant 2 : index\n    %number = arith.constant 7 : i64\n";
  unsigned values = 0, ops = 0;
};
} // namespace

std::string inlay::testing::makeRandomProgram(const RandomProgramOptions &options) { return Writer(options).write(); }
