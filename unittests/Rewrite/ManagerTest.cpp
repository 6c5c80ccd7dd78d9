// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests labels, order, drivers and limits, and on random graphs that the drivers agree.

#include "RewriteFixture.h"

#include <chrono>
#include <random>

using namespace mlir;
using namespace inlay;

namespace {
class ManagerTest : public RewriteFixture {};

TEST_F(ManagerTest, LabelsAreUnique) {
  RewritePatternManager manager;
  add(manager, rename("a", "t.a", "t.b"));
  llvm::Error error = manager.addPDL(rename("b", "t.a", "t.b") + rename("a", "t.a", "t.b"), "x", &context);
  EXPECT_EQ(llvm::toString(std::move(error)), "expected a new label, but there is a pattern labeled 'a' already");
  EXPECT_EQ(manager.getLabels().size(), 1u); // A text adds all patterns or none.
  EXPECT_NE(manager.get("a"), nullptr);
  EXPECT_EQ(manager.get("b"), nullptr);
  EXPECT_TRUE(manager.remove("a"));
  EXPECT_FALSE(manager.remove("a"));
  add(manager, rename("a", "t.a", "t.b"));
}

TEST_F(ManagerTest, HigherBenefitFirstThenTheFirstAdded) {
  auto result = [&](const std::string &patterns) {
    RewritePatternManager manager;
    add(manager, patterns);
    auto module = parseBody("%0 = \"t.a\"(%x) : (!t) -> !t", "%0");
    EXPECT_EQ(*manager.rewrite(*module), 1u);
    return module->getBody()->front().getRegion(0).front().front().getName().getStringRef().str();
  };
  EXPECT_EQ(result(rename("p", "t.a", "t.b", 1) + rename("q", "t.a", "t.c", 10)), "t.c");
  EXPECT_EQ(result(rename("p", "t.a", "t.b", 10) + rename("q", "t.a", "t.c", 1)), "t.b");
  EXPECT_EQ(result(rename("p", "t.a", "t.b", 1) + rename("q", "t.a", "t.c", 1)), "t.b");
  EXPECT_EQ(result(rename("p", "t.a", "t.c", 1) + rename("q", "t.a", "t.b", 1)), "t.c");
}

TEST_F(ManagerTest, ChainsGoToTheirEnd) {
  RewritePatternManager manager;
  add(manager, rename("b", "t.b", "t.c") + rename("a", "t.a", "t.b"));
  auto module = parseBody("%0 = \"t.a\"(%x) : (!t) -> !t", "%0");
  EXPECT_EQ(*manager.rewrite(*module), 2u);
  EXPECT_EQ(count(*module, "t.c"), 1u);
  EXPECT_EQ(manager.getStatistics("a").rewritten, 1u);
  EXPECT_EQ(manager.getStatistics("b").rewritten, 1u);
}

TEST_F(ManagerTest, OpsOfAnotherShapeDontMatch) {
  RewritePatternManager manager;
  add(manager, rename("p", "t.a", "t.b"));
  auto module = parseBody(R"(%0:2 = "t.a"(%x) : (!t) -> (!t, !t)
    "t.a"(%x) : (!t) -> ()
    %1 = "t.a"(%x, %y) : (!t, !t) -> !t
    %2 = "t.a"() : () -> !t
    %3 = "t.a"(%x) ({}) : (!t) -> !t)");
  FailureOr<uint64_t> rewrites = manager.rewrite(*module);
  ASSERT_TRUE(succeeded(rewrites));
  EXPECT_EQ(*rewrites, 0u);
}

TEST_F(ManagerTest, WhatUsesTheRootCantTakeItsPlace) {
  const char *kOps[] = {R"(%new = pdl.operation "t.b"(%a : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new)",
                        R"(%in = pdl.operation "t.b"(%a : !pdl.value) -> (%t : !pdl.type)
    %r = pdl.result 0 of %in
    %new = pdl.operation "t.c"(%r : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new)"};
  for (const char *ops : kOps) {
    RewritePatternManager manager;
    add(manager, std::string(R"(pdl.pattern @wrap : benefit(1) {
    %x = pdl.operand
    %t = pdl.type
    %root = pdl.operation "t.a"(%x : !pdl.value) -> (%t : !pdl.type)
    %a = pdl.result 0 of %root
    pdl.rewrite %root {
    )") + ops + "\n}\n}");
    auto module = parseBody("%0 = \"t.a\"(%x) : (!t) -> !t", "%0");
    std::string before = print(*module), error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(manager.rewrite(*module)));
    EXPECT_NE(error.find("expected a value that is defined before its use by 't.b'"), std::string::npos) << error;
    EXPECT_EQ(print(*module), before);
  }
}

TEST_F(ManagerTest, GlobsTurnPatternsOnAndOff) {
  RewritePatternManager manager;
  add(manager, rename("fuse_a", "t.a", "t.b") + rename("fuse_b", "t.b", "t.c") + rename("other", "t.c", "t.d"));
  EXPECT_EQ(*manager.setEnabled("fuse_*", false), 2u);
  EXPECT_FALSE(manager.isEnabled("fuse_a"));
  auto module = parseBody("%0 = \"t.a\"(%x) : (!t) -> !t", "%0");
  EXPECT_EQ(*manager.rewrite(*module), 0u);
  EXPECT_EQ(*manager.setEnabled("fuse_a", true), 1u);
  EXPECT_EQ(*manager.rewrite(*module), 1u);
  EXPECT_EQ(count(*module, "t.b"), 1u);
  llvm::Expected<unsigned> bad = manager.setEnabled("[", true);
  EXPECT_FALSE(static_cast<bool>(bad));
  llvm::consumeError(bad.takeError());
}

TEST_F(ManagerTest, CyclesNameTheirPatterns) {
  for (unsigned length = 2; length <= 5; ++length)
    for (RewriteDriver driver : {RewriteDriver::Fixpoint, RewriteDriver::Greedy}) {
      RewritePatternManager manager;
      for (unsigned i = 0; i < length; ++i)
        add(manager,
            rename("p" + std::to_string(i), "t.o" + std::to_string(i), "t.o" + std::to_string((i + 1) % length)));
      add(manager, rename("innocent", "t.i", "t.j"));
      auto module = parseBody(R"(%0 = "t.i"(%x) : (!t) -> !t
        %1 = "t.o1"(%0) : (!t) -> !t)",
                              "%1");
      std::string before = print(*module);
      RewriteOptions options;
      options.driver = driver;
      std::string error = rewriteError(manager, *module, options);
      for (unsigned i = 0; i < length; ++i)
        EXPECT_NE(error.find("'p" + std::to_string(i) + "'"), std::string::npos) << error;
      EXPECT_EQ(error.find("innocent"), std::string::npos);
      EXPECT_EQ(print(*module), before);
    }
}

TEST_F(ManagerTest, GrowthWithoutEndIsStoppedByTheBudget) {
  RewritePatternManager manager;
  add(manager, R"(pdl.pattern @grow : benefit(1) {
    %x = pdl.operand
    %t = pdl.type
    %op = pdl.operation "t.g"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %op {
      %inner = pdl.operation "t.h"(%x : !pdl.value) -> (%t : !pdl.type)
      %v = pdl.result 0 of %inner
      %outer = pdl.operation "t.g"(%v : !pdl.value) -> (%t : !pdl.type)
      pdl.replace %op with %outer
    }
  })");
  auto module = parseBody("%0 = \"t.g\"(%x) : (!t) -> !t", "%0");
  std::string before = print(*module);
  EXPECT_NE(rewriteError(manager, *module).find("the last by 'grow'"), std::string::npos);
  EXPECT_EQ(print(*module), before);
}

TEST_F(ManagerTest, LongChainsThatEndAreLeftToEnd) {
  RewritePatternManager manager;
  for (unsigned i = 0; i < 300; ++i)
    add(manager, rename("p" + std::to_string(i), "t.o" + std::to_string(i), "t.o" + std::to_string(i + 1)));
  auto module = parseBody("%0 = \"t.o0\"(%x) : (!t) -> !t", "%0");
  EXPECT_EQ(*manager.rewrite(*module), 300u);
}

TEST_F(ManagerTest, OneUseIsNoticedWhenOthersGo) {
  // The inner op has two users at first. One of them disappears after the driver has passed the other.
  RewritePatternManager manager;
  add(manager, R"(pdl.pattern @pair : benefit(1) {
    %x = pdl.operand
    %t = pdl.type
    %a = pdl.operation "t.a"(%x : !pdl.value) -> (%t : !pdl.type)
    %v = pdl.result 0 of %a
    %b = pdl.operation "t.b"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %b {
      %new = pdl.operation "t.ab"(%x : !pdl.value) -> (%t : !pdl.type)
      pdl.replace %b with %new
    }
  }
  pdl.pattern @drop : benefit(1) {
    %x = pdl.operand
    %y = pdl.operand
    %t = pdl.type
    %op = pdl.operation "t.first"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %op {
      pdl.replace %op with (%x : !pdl.value)
    }
  })");
  auto module = parseBody(R"(%0 = "t.a"(%x) : (!t) -> !t
    %1 = "t.b"(%0) : (!t) -> !t
    %2 = "t.first"(%1, %0) : (!t, !t) -> !t)",
                          "%2");
  EXPECT_EQ(*manager.rewrite(*module), 2u);
  EXPECT_EQ(count(*module, "t.ab"), 1u);
}

TEST_F(ManagerTest, AConstraintSeesTheGraphAsItIs) {
  // An op may be changed in place if no later op reads its operand. A later reader is added or removed.
  auto rewrite = [&](const std::string &more) {
    RewritePatternManager manager;
    manager.getFunctions().addConstraint("last_use", [](NativeCall &call) {
      auto *op = call.get<Operation *>(1);
      for (Operation *user : call.get<Value>(0).getUsers())
        if (op->isBeforeInBlock(user))
          return call.fail("it is read later");
      return success();
    });
    add(manager, more + R"(pdl.pattern @in_place : benefit(1) {
      %x = pdl.operand
      %t = pdl.type
      %op = pdl.operation "t.norm"(%x : !pdl.value) -> (%t : !pdl.type)
      pdl.apply_native_constraint "last_use"(%x, %op : !pdl.value, !pdl.operation)
      pdl.rewrite %op {
        %new = pdl.operation "t.norm_"(%x : !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })");
    auto module = parseBody(R"(%0 = "t.made"() : () -> !t
      %1 = "t.before"(%0) : (!t) -> !t
      %2 = "t.norm"(%0) : (!t) -> !t
      %3 = "t.late"(%0, %1, %2) : (!t, !t, !t) -> !t
      %4 = "t.norm"(%3) : (!t) -> !t)",
                            "%4");
    EXPECT_TRUE(succeeded(manager.rewrite(*module)));
    return count(*module, "t.norm_");
  };
  EXPECT_EQ(rewrite(""), 1u); // The last addition matches.
  EXPECT_EQ(rewrite(R"(pdl.pattern @drop : benefit(1) {
    %x = pdl.operand
    %y = pdl.operand
    %z = pdl.operand
    %t = pdl.type
    %op = pdl.operation "t.late"(%x, %y, %z : !pdl.value, !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %op {
      pdl.replace %op with (%z : !pdl.value)
    }
  })"),
            2u);
}

TEST_F(ManagerTest, DriversAgreeOnRandomGraphs) {
  std::mt19937 random(7);
  const char *names[] = {"t.a", "t.b", "t.c", "t.d"};
  for (unsigned round = 0; round < 40; ++round) {
    std::string body;
    for (unsigned i = 0; i < 60; ++i) {
      std::string value = i == 0 ? "%x" : "%v" + std::to_string(i - 1 - random() % std::min(i, 3u));
      body += "%v" + std::to_string(i) + " = \"" + names[random() % 4] + "\"(" + value + ") : (!t) -> !t\n";
    }
    RewritePatternManager manager;
    // These rules are confluent: each creates an op that no rule matches.
    add(manager, rename("a", "t.a", "t.b", 2) + rename("c", "t.c", "t.d") + R"(pdl.pattern @dd : benefit(3) {
      %x = pdl.operand
      %t = pdl.type
      %d = pdl.operation "t.d"(%x : !pdl.value) -> (%t : !pdl.type) {shared}
      %v = pdl.result 0 of %d
      %op = pdl.operation "t.b"(%v : !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %op {
        %new = pdl.operation "t.bd"(%x : !pdl.value) -> (%t : !pdl.type)
        pdl.replace %op with %new
      }
    })");
    std::string results[2];
    for (RewriteDriver driver : {RewriteDriver::Fixpoint, RewriteDriver::Greedy}) {
      auto module = parseBody(body, "%v59");
      RewriteOptions options;
      options.driver = driver;
      ASSERT_TRUE(succeeded(manager.rewrite(*module, options)));
      ASSERT_TRUE(succeeded(verify(*module)));
      results[driver == RewriteDriver::Greedy] = print(*module);
      ASSERT_EQ(*manager.rewrite(*module, options), 0u); // Nothing is left to rewrite.
    }
    ASSERT_EQ(results[0], results[1]);
  }
}

TEST_F(ManagerTest, TwoResultsOverAValueOfManyUsersIsLinear) {
  constexpr unsigned kUsers = 4000;
  std::string body;
  for (unsigned i = 0; i < kUsers; ++i)
    body += i % 2 ? "%v" + std::to_string(i) + " = \"t.left\"(%x, %y) : (!t, !t) -> !t\n\"t.use\"(%v" +
                        std::to_string(i) + ") : (!t) -> ()\n"
                  : "%v" + std::to_string(i) + " = \"t.right\"(%x, %y) : (!t, !t) -> !t\n\"t.use\"(%v" +
                        std::to_string(i) + ") : (!t) -> ()\n";
  RewritePatternManager manager;
  add(manager, R"(pdl.pattern @both : benefit(1) {
    %x = pdl.operand
    %a = pdl.operand
    %b = pdl.operand
    %t = pdl.type
    %p = pdl.operation "t.left"(%x, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %q = pdl.operation "t.absent"(%x, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite {
      pdl.replace %p with (%x : !pdl.value)
      pdl.replace %q with (%x : !pdl.value)
    }
  })");
  auto module = parseBody(body);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(*manager.rewrite(*module), 0u);
  // With nested loops over the users, this takes seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
}

TEST_F(ManagerTest, PairsAmongManyUsersAreAllFound) {
  std::string body;
  for (unsigned i = 0; i < 200; ++i)
    body += "%v" + std::to_string(i) + " = \"t." + (i % 2 ? "left" : "right") + "\"(%x, %y) : (!t, !t) -> !t\n" +
            "\"t.use\"(%v" + std::to_string(i) + ") : (!t) -> ()\n";
  RewritePatternManager manager;
  add(manager, R"(pdl.pattern @both : benefit(1) {
    %x = pdl.operand
    %a = pdl.operand
    %b = pdl.operand
    %t = pdl.type
    %p = pdl.operation "t.left"(%x, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %q = pdl.operation "t.right"(%x, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite {
      pdl.replace %p with (%a : !pdl.value)
      pdl.replace %q with (%b : !pdl.value)
    }
  })");
  auto module = parseBody(body);
  EXPECT_EQ(*manager.rewrite(*module), 100u);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(count(*module, "t.left") + count(*module, "t.right"), 0u);
}
} // namespace
