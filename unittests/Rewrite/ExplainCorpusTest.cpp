// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests explanations on random patterns. The graph contains a match with one change, among ops that match less. The
// explanation must name that change first.

#include "RewriteFixture.h"
#include "inlay/Rewrite/Explain.h"

#include <random>

using namespace mlir;
using namespace inlay;

namespace {
/// An op of the pattern. Operands that are not ops are leaves, of f32 if `typed`.
struct Node {
  std::string name;
  std::vector<int> operands; ///< Number of the node, or -1 - number of the leaf.
  std::vector<int> attributes;
  bool commutative = false;
};

enum class Change { None, Name, Attribute, NoAttribute, Dtype, Order, User };

struct Mutation {
  Change change;
  unsigned node = 0, at = 0;
};

class Corpus {
public:
  explicit Corpus(unsigned seed) : random(seed) {
    makeNode(0);
    for (int leaf = 0; leaf < leaves; ++leaf)
      typed.push_back(pick(3) == 0);
  }

  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random); }

  /// Returns all single changes.
  std::vector<Mutation> getMutations() const {
    std::vector<Mutation> all;
    for (unsigned number = 0; number < nodes.size(); ++number) {
      const Node &node = nodes[number];
      all.push_back({Change::Name, number});
      for (unsigned i = 0; i < node.attributes.size(); ++i) {
        all.push_back({Change::Attribute, number, i});
        all.push_back({Change::NoAttribute, number, i});
      }
      for (unsigned i = 0; i < node.operands.size(); ++i)
        if (isTyped(node.operands[i]) && !(node.commutative && isFree(node.operands[1 - i])))
          all.push_back({Change::Dtype, number, i});
      if (node.operands.size() == 2 && !node.commutative && (node.operands[0] >= 0 || node.operands[1] >= 0))
        all.push_back({Change::Order, number});
      if (number != 0)
        all.push_back({Change::User, number});
    }
    return all;
  }

  std::string writePattern() const {
    std::string text = "pdl.pattern @p : benefit(1) {\n  %f32 = pdl.attribute = f32\n";
    for (int leaf = 0; leaf < leaves; ++leaf) {
      std::string name = "%l" + std::to_string(leaf);
      text += "  " + name + " = pdl.operand\n";
      if (typed[leaf])
        text += "  pdl.apply_native_constraint \"dtype\"(" + name + ", %f32 : !pdl.value, !pdl.attribute)\n";
    }
    for (size_t number = nodes.size(); number-- > 0;)
      text += writePatternOp(number);
    return text + "  pdl.rewrite %n0 { pdl.erase %n0 }\n}\n";
  }

  /// Returns the text of the ops with a mutation and a final user of the root. `%h` has elements of f16.
  std::string writeGraph(const std::string &prefix, Mutation mutation) {
    std::string text;
    for (size_t number = nodes.size(); number-- > 0;)
      text += writeOp(prefix, number, mutation);
    std::string users = "%" + prefix + "0", types = "!t";
    if (mutation.change == Change::User) {
      users += ", %" + prefix + std::to_string(mutation.node);
      types += ", !t";
    }
    return text + "\"t.end\"(" + users + ") : (" + types + ") -> ()\n";
  }

  const Node &operator[](unsigned number) const { return nodes[number]; }
  size_t size() const { return nodes.size(); }

private:
  bool isTyped(int operand) const { return operand < 0 && typed[-operand - 1]; }
  bool isFree(int operand) const { return operand < 0 && !typed[-operand - 1]; }

  int makeNode(unsigned depth) {
    int number = static_cast<int>(nodes.size());
    nodes.push_back({"t.op" + std::to_string(number), {}, {}, false});
    for (unsigned i = 0, count = pick(3); i < count; ++i)
      nodes[number].attributes.push_back(static_cast<int>(pick(4)));
    unsigned arity = 1 + pick(3);
    std::vector<int> operands;
    for (unsigned i = 0; i < arity; ++i) {
      bool isOp = depth == 0 && i == 0 ? true : depth < 4 && nodes.size() < 14 && pick(2);
      operands.push_back(isOp ? makeNode(depth + 1) : -1 - leaves++);
    }
    nodes[number].operands = operands;
    nodes[number].commutative = arity == 2 && pick(3) == 0;
    return number;
  }

  std::string writePatternOp(size_t number) const {
    const Node &node = nodes[number];
    std::string text, operands, types, attributes, id = std::to_string(number);
    for (int operand : node.operands) {
      operands += (operands.empty() ? "" : ", ") +
                  ("%" + (operand < 0 ? "l" + std::to_string(-operand - 1) : "r" + std::to_string(operand)));
      types += types.empty() ? "!pdl.value" : ", !pdl.value";
    }
    for (size_t i = 0; i < node.attributes.size(); ++i) {
      std::string value = "%a" + id + "_" + std::to_string(i);
      text += "  " + value + " = pdl.attribute = " + std::to_string(node.attributes[i]) + " : i64\n";
      attributes += (i ? ", \"k" : "\"k") + std::to_string(i) + "\" = " + value;
    }
    text += "  %t" + id + " = pdl.type\n  %n" + id + " = pdl.operation \"" + node.name + "\"(" + operands + " : " +
            types + ") " + (attributes.empty() ? "" : "{" + attributes + "} ") + "-> (%t" + id + " : !pdl.type)" +
            (node.commutative ? " {commutative}" : "") + "\n  %r" + id + " = pdl.result 0 of %n" + id + "\n";
    return text;
  }

  std::string writeOp(const std::string &prefix, size_t number, Mutation mutation) {
    const Node &node = nodes[number];
    auto isChanged = [&](Change change, size_t at = 0) {
      return mutation.change == change && mutation.node == number && mutation.at == at;
    };
    std::vector<std::pair<std::string, std::string>> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (isChanged(Change::Dtype, i))
        operands.push_back({"%h", "tensor<4xf16>"});
      else
        operands.push_back(
            {node.operands[i] < 0 ? (pick(2) ? "%x" : "%y") : "%" + prefix + std::to_string(node.operands[i]), "!t"});
    }
    if (isChanged(Change::Order) || (node.commutative && pick(2)))
      std::swap(operands[0], operands[1]);
    std::string names, types, attributes;
    for (const auto &[name, type] : operands) {
      names += (names.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + type;
    }
    for (size_t i = 0; i < node.attributes.size(); ++i)
      if (!isChanged(Change::NoAttribute, i))
        attributes += (attributes.empty() ? "k" : ", k") + std::to_string(i) + " = " +
                      std::to_string(isChanged(Change::Attribute, i) ? 9 : node.attributes[i]) + " : i64";
    return "%" + prefix + std::to_string(number) + " = \"" + (isChanged(Change::Name) ? "t.wrong" : node.name) + "\"(" +
           names + ") {" + attributes + "} : (" + types + ") -> !t loc(\"" + prefix + std::to_string(number) + "\")\n";
  }

  std::mt19937 random;
  std::vector<Node> nodes; ///< Node 0 is the root.
  int leaves = 0;
  std::vector<bool> typed;
};

/// Returns the text that the explanation of the mutation must contain.
std::string getWanted(const Corpus &corpus, Mutation mutation) {
  const Node &node = corpus[mutation.node];
  std::string key = "attribute 'k" + std::to_string(mutation.at) + "'";
  switch (mutation.change) {
  case Change::None:
    return "";
  case Change::Name:
    return "expected '" + node.name + "', but found 't.wrong'";
  case Change::Attribute:
    return "expected " + key + " to be " + std::to_string(node.attributes[mutation.at]) + " : i64, but found 9 : i64";
  case Change::NoAttribute:
    return "expected " + key + ", but there is none";
  case Change::Dtype:
    return "expected dtype f32, but found f16";
  case Change::Order:
    return "but found them swapped";
  case Change::User:
    return "another user, 't.end'";
  }
  return "";
}

class ExplainCorpusTest : public RewriteFixture, public testing::WithParamInterface<unsigned> {};

/// Returns the number of ops at which `pattern` matches, with or without a request for the reason of a failure.
static unsigned countMatches(const GraphPattern &pattern, ModuleOp module, bool asks) {
  unsigned count = 0;
  module.walk([&](Operation *op) {
    Match match(op);
    std::string whyNot;
    MatchContext context;
    context.whyNot = asks ? &whyNot : nullptr;
    count += succeeded(pattern.match(op, match, context));
  });
  return count;
}

TEST_P(ExplainCorpusTest, WhatWasChangedIsNamedFirst) {
  Corpus corpus(GetParam());
  RewritePatternManager manager;
  add(manager, corpus.writePattern());
  std::vector<Mutation> mutations = corpus.getMutations();
  for (Mutation mutation : mutations) {
    // The others have at least two changes: a wrong root and a changed name below it.
    Mutation root{Change::Name, 0, 0};
    std::string less = corpus.writeGraph("a", root), changed = corpus.writeGraph("b", mutation),
                last = corpus.writeGraph("c", root);
    auto spoil = [&](std::string &text) {
      text.insert(text.find("t.op" + std::to_string(corpus.size() - 1)) + 2, "no");
    };
    if (corpus.size() > 1) {
      spoil(less);
      spoil(last);
    }
    auto module = parseBody("%h = \"t.half\"() : () -> tensor<4xf16>\n" + less + changed + last);
    Explanation explanation = explain(*manager.get("p"), *module);
    std::string text = explanation.str("p");
    EXPECT_EQ(explanation.matches, 0u) << text;
    EXPECT_EQ(countMatches(*manager.get("p"), *module, /*asks=*/false), 0u) << text;
    EXPECT_EQ(countMatches(*manager.get("p"), *module, /*asks=*/true), 0u) << text;
    ASSERT_FALSE(explanation.mismatches.empty());
    const Mismatch &first = explanation.mismatches.front();
    EXPECT_NE(first.why.find(getWanted(corpus, mutation)), std::string::npos) << getWanted(corpus, mutation) << "\n"
                                                                              << text;
    auto name = dyn_cast<NameLoc>(first.op->getLoc());
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name.getName(), "b" + std::to_string(mutation.node)) << text;
  }
  auto module = parseBody("%h = \"t.half\"() : () -> tensor<4xf16>\n" + corpus.writeGraph("a", {Change::None}));
  EXPECT_EQ(explain(*manager.get("p"), *module).matches, 1u);
  EXPECT_EQ(countMatches(*manager.get("p"), *module, /*asks=*/false), 1u);
  EXPECT_EQ(countMatches(*manager.get("p"), *module, /*asks=*/true), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExplainCorpusTest, testing::Range(0u, 60u));
} // namespace
