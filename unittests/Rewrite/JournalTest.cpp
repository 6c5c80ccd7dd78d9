// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RewriteFixture.h"

#include <random>

using namespace mlir;
using namespace inlay;

namespace {
class JournalTest : public RewriteFixture {};

TEST_F(JournalTest, EveryKindOfChangeIsUndone) {
  auto module = parseBody(R"(%0 = "t.a"(%x) {n = 1} : (!t) -> !t
    %1 = "t.b"(%0, %y) ({ "t.in"(%0) : (!t) -> () }) : (!t, !t) -> !t
    "t.c"(%1) : (!t) -> ())");
  std::string before = print(*module);
  GraphRewriter rewriter(&context);
  Operation *a = find(*module, "t.a"), *b = find(*module, "t.b"), *c = find(*module, "t.c");
  rewriter.modifyOpInPlace(a, [&] {
    a->setAttr("n", rewriter.getI64IntegerAttr(2));
    a->setOperand(0, b->getOperand(1));
    a->setLoc(rewriter.getUnknownLoc());
  });
  rewriter.moveOpBefore(c, c->getBlock(), c->getBlock()->end());
  rewriter.moveOpAfter(c, b);
  rewriter.setInsertionPoint(b);
  Operation *made = rewriter.create(OperationState(b->getLoc(), "t.new", a->getResults(), b->getResultTypes()));
  rewriter.replaceOp(b, made);
  Block *block = rewriter.createBlock(a->getParentRegion(), {}, {});
  rewriter.eraseBlock(block);
  EXPECT_FALSE(rewriter.hasError());
  EXPECT_NE(print(*module), before);
  EXPECT_TRUE(rewriter.getJournal().isErased(b));
  rewriter.getJournal().undoTo(0);
  EXPECT_EQ(print(*module), before);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(JournalTest, RandomChangesAreUndoneToAnyMark) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 50; ++round) {
    std::string body;
    for (unsigned i = 0; i < 20; ++i) {
      auto value = [&] { return i == 0 ? std::string("%x") : "%v" + std::to_string(random() % i); };
      body += "%v" + std::to_string(i) + " = \"t.op\"(" + value() + ", " + value() + ") {n = " + std::to_string(i) +
              "} : (!t, !t) -> !t\n";
    }
    auto module = parseBody(body, "%v19");
    GraphRewriter rewriter(&context);
    Journal &journal = rewriter.getJournal();
    Block &block = cast<func::FuncOp>(module->getBody()->front()).getBody().front();
    std::vector<std::pair<Journal::Mark, std::string>> states;
    for (unsigned change = 0; change < 15; ++change) {
      states.push_back({journal.mark(), print(*module)});
      Operation *op = &*std::next(block.begin(), random() % (block.getOperations().size() - 1));
      rewriter.setInsertionPoint(op);
      if (random() % 3 == 0 && op->use_empty()) {
        rewriter.eraseOp(op);
      } else if (random() % 2) {
        rewriter.modifyOpInPlace(op, [&] { op->setAttr("m", rewriter.getUnitAttr()); });
      } else {
        Operation *made =
            rewriter.create(OperationState(op->getLoc(), "t.made", op->getOperands(), op->getResultTypes()));
        rewriter.replaceOp(op, made);
      }
    }
    ASSERT_FALSE(rewriter.hasError());
    while (!states.empty()) {
      journal.undoTo(states.back().first);
      ASSERT_EQ(print(*module), states.back().second);
      states.pop_back();
    }
  }
}

TEST_F(JournalTest, WhatWouldBreakTheGraphIsRefused) {
  auto module = parseBody(R"(%0 = "t.a"(%x) : (!t) -> !t
    %1 = "t.b"(%0) : (!t) -> !t
    %2 = "t.c"(%1) : (!t) -> f32)",
                          "%1");
  std::string before = print(*module);
  Operation *a = find(*module, "t.a"), *b = find(*module, "t.b"), *c = find(*module, "t.c");
  auto check = [&](function_ref<void(GraphRewriter &)> change, StringRef why) {
    GraphRewriter rewriter(&context);
    change(rewriter);
    EXPECT_TRUE(StringRef(rewriter.takeError()).contains(why)) << why.str();
    EXPECT_EQ(print(*module), before);
  };
  check([&](GraphRewriter &rewriter) { rewriter.eraseOp(a); }, "expected no uses of the erased 't.a'");
  check([&](GraphRewriter &rewriter) { rewriter.replaceOp(a, c); }, "expected a value of type 'tensor<4xf32>'");
  check([&](GraphRewriter &rewriter) { rewriter.replaceOp(a, ValueRange()); }, "expected 1 values for the results");
  check([&](GraphRewriter &rewriter) { rewriter.replaceOp(a, Value()); }, "expected a value to replace");
  check(
      [&](GraphRewriter &rewriter) {
        rewriter.replaceUsesWithIf(a->getResult(0), b->getResult(0), [](auto &) { return true; });
      },
      "defined before its use by 't.b'"); // An op never uses itself.
  auto later = parseBody(R"(%0 = "t.a"(%x) : (!t) -> !t
    "t.use"(%0) : (!t) -> ()
    %1 = "t.b"(%y) : (!t) -> !t)");
  GraphRewriter rewriter(&context);
  rewriter.replaceOp(find(*later, "t.a"), find(*later, "t.b"));
  EXPECT_TRUE(StringRef(rewriter.takeError()).contains("defined before its use by 't.use'"));
}
} // namespace
