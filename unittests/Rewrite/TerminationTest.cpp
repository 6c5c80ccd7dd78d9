// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests rules that form cycles of one to five rules, and rules that let a graph grow. Each run must stop, name the
// rules and the location, and restore the graph. Matching must stop too if there are very many ways to match.

#include "RewriteFixture.h"

#include <random>

using namespace mlir;
using namespace inlay;

namespace {
/// A way in which a rule of a cycle changes an op. Writes the op before and after as PDL.
struct Turn {
  const char *name;
  std::string (*write)(const std::string &from, const std::string &to);
};

std::string wrap(const std::string &match, const std::string &rewrite) {
  return "  %x = pdl.operand\n  %y = pdl.operand\n  %t = pdl.type\n" + match + "  pdl.rewrite %op {\n" + rewrite +
         "  }\n}\n";
}

std::string binary(const std::string &result, const std::string &name, const std::string &operands,
                   const std::string &rest = "") {
  return "    " + result + " = pdl.operation \"" + name + "\"(" + operands + " : !pdl.value, !pdl.value) " + rest +
         "-> (%t : !pdl.type)\n";
}

std::string replaceOp() { return "    pdl.replace %op with %new\n"; }

const Turn kTurns[] = {
    {"rename",
     [](const std::string &from, const std::string &to) {
       return wrap(binary("%op", from, "%x, %y"), binary("%new", to, "%x, %y") + replaceOp());
     }},
    {"swap",
     [](const std::string &from, const std::string &to) {
       return wrap(binary("%op", from, "%x, %y"), binary("%new", to, "%y, %x") + replaceOp());
     }},
    {"attribute",
     [](const std::string &from, const std::string &to) {
       return wrap(binary("%op", from, "%x, %y"),
                   "    %k = pdl.attribute = 1 : i64\n" + binary("%new", to, "%x, %y", "{\"k\" = %k} ") + replaceOp());
     }},
    {"through another op",
     [](const std::string &from, const std::string &to) {
       return wrap(binary("%op", from, "%x, %y"), binary("%in", "t.pair", "%x, %y") + "    %r = pdl.result 0 of %in\n" +
                                                      binary("%new", to, "%x, %r") + replaceOp());
     }},
};

class TerminationTest : public RewriteFixture {
protected:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random); }

  /// Returns a graph of many ops of which one or a few are called `name`, each with a label.
  OwningOpRef<ModuleOp> makeGraph(const std::string &name, unsigned ops) {
    std::string body;
    unsigned place = pick(ops);
    for (unsigned i = 0; i < ops; ++i) {
      std::string x = i ? "%v" + std::to_string(i - 1) : "%x", op = i == place ? name : "t.other";
      body += "%v" + std::to_string(i) + " = \"" + op + "\"(" + x + ", %y) : (!t, !t) -> !t loc(\"op" +
              std::to_string(i) + "\")\n";
    }
    cyclingPattern = "op" + std::to_string(place);
    return parseBody(body, "%v" + std::to_string(ops - 1));
  }

  /// Runs rules that do not terminate. The error must name some of them and no other rule.
  void expectStopped(const std::string &rules, unsigned count, const std::string &name, RewriteDriver driver) {
    RewritePatternManager manager;
    add(manager, rules + rename("bystander", "t.other", "t.done"));
    OwningOpRef<ModuleOp> module = makeGraph(name, 1 + pick(60));
    std::string before = print(*module), at;
    RewriteOptions options;
    options.driver = driver;
    std::string error;
    {
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        error += diagnostic.str();
        std::string text;
        llvm::raw_string_ostream(text) << diagnostic.getLocation();
        at += text;
        return success();
      });
      ASSERT_TRUE(failed(manager.rewrite(*module, options))) << rules;
    }
    EXPECT_NE(error.find("rewriting doesn't"), std::string::npos) << error;
    unsigned named = 0;
    for (unsigned rule = 0; rule < count; ++rule)
      named += error.find("'rule" + std::to_string(rule) + "'") != std::string::npos;
    EXPECT_EQ(named, count) << error << "\n" << rules;
    EXPECT_EQ(error.find("bystander"), std::string::npos) << error;
    EXPECT_NE(at.find(cyclingPattern), std::string::npos) << at;
    EXPECT_EQ(print(*module), before);
    uint64_t total = 0;
    for (unsigned rule = 0; rule < count; ++rule)
      total += manager.getStatistics("rule" + std::to_string(rule)).rewritten;
    EXPECT_LE(total, 10u * 60 * 8 + 1000u);
  }

  std::mt19937 random{7};
  std::string cyclingPattern;
};

std::string header(unsigned rule, unsigned benefit) {
  return "pdl.pattern @rule" + std::to_string(rule) + " : benefit(" + std::to_string(benefit) + ") {\n";
}

TEST_F(TerminationTest, RingsAreNoticedAndNamed) {
  for (unsigned length = 1; length <= 5; ++length)
    for (unsigned sample = 0; sample < 40; ++sample) {
      std::string rules;
      for (unsigned rule = 0; rule < length; ++rule) {
        const Turn &turn = kTurns[pick(3)];
        rules += header(rule, 1 + pick(3)) +
                 turn.write("t.s" + std::to_string(rule), "t.s" + std::to_string((rule + 1) % length));
      }
      expectStopped(rules, length, "t.s" + std::to_string(pick(length)),
                    pick(4) ? RewriteDriver::Fixpoint : RewriteDriver::Greedy);
      if (HasFailure())
        return;
    }
}

TEST_F(TerminationTest, RulesThatGrowTheGraphAreStopped) {
  for (unsigned length = 1; length <= 3; ++length)
    for (unsigned sample = 0; sample < 10; ++sample) {
      std::string rules;
      for (unsigned rule = 0; rule < length; ++rule)
        rules += header(rule, 1) + kTurns[rule == 0 ? 3 : pick(4)].write("t.s" + std::to_string(rule),
                                                                         "t.s" + std::to_string((rule + 1) % length));
      expectStopped(rules, length, "t.s0", RewriteDriver::Fixpoint);
      if (HasFailure())
        return;
    }
}

TEST_F(TerminationTest, ALongWayThatEndsIsNoRing) {
  constexpr unsigned kLength = 300;
  RewritePatternManager manager;
  for (unsigned i = 0; i < kLength; ++i)
    add(manager, rename("step" + std::to_string(i), "t.s" + std::to_string(i), "t.s" + std::to_string(i + 1)));
  auto module = parseBody("%0 = \"t.s0\"(%x) : (!t) -> !t", "%0");
  EXPECT_EQ(*manager.rewrite(*module), kLength);
  EXPECT_TRUE(find(*module, "t.s300"));
}

/// A class that changes an op in place and back. Between the changes it reports that it did nothing.
TEST_F(TerminationTest, ChangesInPlaceAreNoticedAsARing) {
  struct Flip : GraphPattern {
    Flip() : GraphPattern(RootSet{{"t.flip"}, {}}) {}
    LogicalResult matchAndRewrite(Operation *op, GraphRewriter &rewriter, const MatchContext &) const override {
      bool wasLast = last == op;
      last = wasLast ? nullptr : op;
      if (wasLast)
        return failure();
      bool on = !op->hasAttr("on");
      rewriter.modifyOpInPlace(op,
                               [&] { on ? op->setAttr("on", rewriter.getUnitAttr()) : (void)op->removeAttr("on"); });
      return success();
    }
    mutable Operation *last = nullptr;
  };
  RewritePatternManager manager;
  ASSERT_FALSE(static_cast<bool>(manager.add("flip", std::make_unique<Flip>())));
  auto module = parseBody("%0 = \"t.flip\"(%x) : (!t) -> !t\n%1 = \"t.flip\"(%0) : (!t) -> !t", "%1");
  std::string before = print(*module), error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(manager.rewrite(*module)));
  EXPECT_EQ(error, "rewriting doesn't end: pattern 'flip' leads back to where it started");
  EXPECT_EQ(print(*module), before);
}

/// Returns a pattern for the sum of 2^depth leaves in a tree of additions with operands in any order. The last op that
/// is matched has another name.
std::string writeTree(unsigned depth) {
  std::string text = "pdl.pattern @tree : benefit(1) {\n  %t = pdl.type\n";
  std::vector<std::string> level;
  for (unsigned i = 0; i < 1u << depth; ++i) {
    std::string id = std::to_string(i);
    text += "  %in" + id + " = pdl.operand\n  %leaf" + id + " = pdl.operation \"" +
            (i + 1 < 1u << depth ? "t.leaf" : "t.wanted") + "\"(%in" + id + " : !pdl.value) -> (%t : !pdl.type)\n  %v" +
            id + " = pdl.result 0 of %leaf" + id + "\n";
    level.push_back("%v" + id);
  }
  unsigned number = 0;
  std::string root;
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      std::string id = std::to_string(number++);
      text += "  %add" + id + " = pdl.operation \"t.add\"(" + level[i] + ", " + level[i + 1] +
              " : !pdl.value, !pdl.value) -> (%t : !pdl.type) {commutative}\n  %sum" + id + " = pdl.result 0 of %add" +
              id + "\n";
      next.push_back("%sum" + id);
      root = "%add" + id;
    }
    level = next;
  }
  return text + "  pdl.rewrite " + root + " { pdl.replace " + root + " with (%in0 : !pdl.value) }\n}\n";
}

std::string writeTreeGraph(unsigned depth, const std::string &first) {
  std::string text;
  std::vector<std::string> level;
  for (unsigned i = 0; i < 1u << depth; ++i) {
    text += "%v" + std::to_string(i) + " = \"" + (i == 0 ? first : "t.leaf") + "\"(%x) : (!t) -> !t\n";
    level.push_back("%v" + std::to_string(i));
  }
  unsigned number = 0;
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      std::string sum = "%s" + std::to_string(number++);
      text += sum + " = \"t.add\"(" + level[i] + ", " + level[i + 1] + ") : (!t, !t) -> !t\n";
      next.push_back(sum);
    }
    level = next;
  }
  return text + "\"t.end\"(" + level.front() + ") : (!t) -> ()\n";
}

TEST_F(TerminationTest, ATreeInAnyOrderMatchesWhereItMay) {
  RewritePatternManager manager;
  add(manager, writeTree(3));
  auto module = parseBody(writeTreeGraph(3, "t.wanted"));
  EXPECT_EQ(*manager.rewrite(*module), 1u);
}

TEST_F(TerminationTest, TooManyWaysToMatchAreGivenUpWithAWarning) {
  RewritePatternManager manager;
  add(manager, writeTree(6)); // There are 2^63 orders.
  auto module = parseBody(writeTreeGraph(6, "t.leaf"));
  std::string before = print(*module), warning;
  unsigned warnings = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    EXPECT_EQ(diagnostic.getSeverity(), DiagnosticSeverity::Warning);
    warning = diagnostic.str();
    ++warnings;
    return success();
  });
  EXPECT_EQ(*manager.rewrite(*module), 0u);
  EXPECT_EQ(warnings, 1u);
  EXPECT_NE(warning.find("gave up matching pattern 'tree' here"), std::string::npos) << warning;
  EXPECT_EQ(print(*module), before);
}

TEST_F(TerminationTest, UsersOfASharedValueDontMultiply) {
  // Three ops read %x, and the last of them never matches. A nested search would try users^3 ways.
  RewritePatternManager manager;
  add(manager, R"(pdl.pattern @three : benefit(1) {
    %x = pdl.operand
    %a = pdl.operand
    %b = pdl.operand
    %c = pdl.operand
    %t = pdl.type
    %f16 = pdl.attribute = f16
    pdl.apply_native_constraint "dtype"(%c, %f16 : !pdl.value, !pdl.attribute)
    %p = pdl.operation "t.p"(%x, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %q = pdl.operation "t.q"(%x, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %r = pdl.operation "t.r"(%x, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite {
      pdl.replace %p with (%a : !pdl.value)
      pdl.replace %q with (%b : !pdl.value)
      pdl.replace %r with (%c : !pdl.value)
    }
  })");
  std::string body;
  for (unsigned i = 0; i < 900; ++i) {
    std::string id = std::to_string(i);
    body += "%v" + id + " = \"t." +
            (i % 3 == 0   ? "p"
             : i % 3 == 1 ? "q"
                          : "r") +
            "\"(%x, %y) : (!t, !t) -> !t\n" + "\"t.end\"(%v" + id + ") : (!t) -> ()\n";
  }
  auto module = parseBody(body);
  std::vector<std::string> warnings;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    warnings.push_back(diagnostic.str());
    return success();
  });
  EXPECT_EQ(*manager.rewrite(*module), 0u);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[1].find("for the 16th time and dropped it from the run"), std::string::npos);
  EXPECT_EQ(manager.getStatistics("three").tried, 16u);
}
} // namespace
