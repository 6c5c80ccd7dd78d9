// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests patterns that are classes: data passed from match to rewrite, all kinds of roots, and failing rewrites.

#include "RewriteFixture.h"
#include "inlay/Rewrite/AnalysisPatternManager.h"

using namespace mlir;
using namespace inlay;

namespace {
class ClassPatternsTest : public RewriteFixture {
protected:
  uint64_t rewrite(std::unique_ptr<GraphPattern> pattern, ModuleOp module, const RewriteOptions &options = {}) {
    RewritePatternManager manager;
    EXPECT_FALSE(static_cast<bool>(manager.add("p", std::move(pattern))));
    FailureOr<uint64_t> count = manager.rewrite(module, options);
    EXPECT_TRUE(succeeded(count));
    EXPECT_TRUE(succeeded(verify(module)));
    return count.value_or(0);
  }
};

/// Replaces every addition by a subtraction.
struct AddToSub : GraphPattern {
  AddToSub() : GraphPattern({{"inlay.add"}, nullptr}) {}

  LogicalResult match(Operation *op, Match &match, const MatchContext &) const override {
    match.capture("a", op->getOperand(0));
    match.state = op->getOperand(1);
    return success();
  }

  LogicalResult rewrite(const Match &match, GraphRewriter &rewriter) const override {
    Value a = match.get<Value>("a"), b = std::any_cast<Value>(match.state);
    rewriter.setInsertionPoint(match.root);
    rewriter.replaceOp(match.root, SubOp::create(rewriter, match.root->getLoc(), a, b)->getResults());
    return success();
  }
};

TEST_F(ClassPatternsTest, MatchHandsOverToRewrite) {
  auto module = parseBody("%0 = inlay.add %x, %y : (!t, !t) -> !t", "%0");
  EXPECT_EQ(rewrite(std::make_unique<AddToSub>(), *module), 1u);
  auto sub = cast<SubOp>(find(*module, "inlay.sub"));
  EXPECT_EQ(sub.getLhs(), cast<func::FuncOp>(module->getBody()->front()).getArgument(0));
  EXPECT_EQ(count(*module, "inlay.add"), 0u);
}

/// A pattern that runs a function.
struct Lambda : GraphPattern {
  using Function = std::function<LogicalResult(Operation *, GraphRewriter &)>;
  Lambda(RootSet roots, Function function, unsigned benefit = 1)
      : GraphPattern(std::move(roots), benefit), function(std::move(function)) {}
  LogicalResult matchAndRewrite(Operation *op, GraphRewriter &rewriter, const MatchContext &) const override {
    return function(op, rewriter);
  }
  Function function;
};

/// PDL cannot match the contents of a region. A class can compare them, here with the text of a region.
TEST_F(ClassPatternsTest, RegionsAreComparedByAClass) {
  auto text = [](const char *op, const std::string &name, const std::string &more = "") {
    return "\"t.loops\"() ({\n^bb0(%in: f32, %out: f32):\n  %m = \"" + std::string(op) +
           "\"(%in, %out) : (f32, f32) -> f32\n" + more + "  \"t.yield\"(%m) : (f32) -> ()\n}) {status = \"" + name +
           "\"} : () -> ()\n";
  };
  auto module = parseBody(text("t.max", "a") + text("t.min", "b") + text("t.max", "c", "  \"t.more\"() : () -> ()\n") +
                          text("t.max", "d"));
  auto wanted = parseBody(text("t.max", "wanted"));
  Region &region = find(*wanted, "t.loops")->getRegion(0);
  auto pattern = std::make_unique<Lambda>(RootSet{{"t.loops"}, nullptr}, [&](Operation *op, GraphRewriter &rewriter) {
    if (op->hasAttr("matched") ||
        !OperationEquivalence::isRegionEquivalentTo(&op->getRegion(0), &region, OperationEquivalence::IgnoreLocations))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setAttr("matched", rewriter.getUnitAttr()); });
    return success();
  });
  EXPECT_EQ(rewrite(std::move(pattern), *module), 2u);
  std::string matched;
  module->walk([&](Operation *op) {
    if (op->hasAttr("matched"))
      matched += op->getAttrOfType<StringAttr>("status").getValue();
  });
  EXPECT_EQ(matched, "ad");
}

TEST_F(ClassPatternsTest, RootsMayBeInterfacesTraitsOrAny) {
  auto module = parseBody(R"(%0 = inlay.relu %x : (!t) -> !t
    %1 = "t.other"(%0) : (!t) -> !t)",
                          "%1");
  auto seen = [&](RootSet roots) {
    std::vector<std::string> names;
    rewrite(std::make_unique<Lambda>(std::move(roots),
                                     [&](Operation *op, GraphRewriter &) {
                                       names.push_back(op->getName().getStringRef().str());
                                       return failure();
                                     }),
            *module);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(seen(RootSet::withInterface<PointwiseOpInterface>()), Names({"inlay.relu"}));
  EXPECT_EQ(seen(RootSet::withTrait<OpTrait::IsTerminator>()), Names({"func.return"}));
  EXPECT_EQ(seen({}), Names({"func.func", "inlay.relu", "t.other", "func.return"}));
  EXPECT_EQ(seen({{"t.other", "t.none"}, nullptr}), Names({"t.other"}));
}

TEST_F(ClassPatternsTest, ARewriteThatFailsLeavesNoTrace) {
  auto module = parseBody("%0 = inlay.relu %x : (!t) -> !t", "%0");
  std::string before = print(*module);
  RewritePatternManager manager;
  ASSERT_FALSE(static_cast<bool>(manager.add(
      "half", std::make_unique<Lambda>(RootSet{{"inlay.relu"}, nullptr}, [](Operation *op, GraphRewriter &rewriter) {
        Value neg = NegOp::create(rewriter, op->getLoc(), op->getOperand(0));
        rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, neg); });
        return failure();
      }))));
  EXPECT_EQ(*manager.rewrite(*module), 0u);
  EXPECT_EQ(print(*module), before);
  EXPECT_EQ(manager.getStatistics("half").rejected, 1u);
  EXPECT_EQ(manager.getStatistics("half").rewritten, 0u);
}

TEST_F(ClassPatternsTest, WhatIsTakenBackIsRewrittenByOthersUnderEachDriver) {
  for (RewriteDriver driver : {RewriteDriver::Fixpoint, RewriteDriver::Sweep, RewriteDriver::Greedy}) {
    auto module = parseBody(R"(%0 = inlay.relu %x : (!t) -> !t
      %1 = inlay.add %0, %y : (!t, !t) -> !t
      %2 = inlay.relu %1 : (!t) -> !t)",
                            "%2");
    RewritePatternManager manager;
    // Replaces an op and its operand, creates unused ops, and fails.
    ASSERT_FALSE(static_cast<bool>(manager.add(
        "fails", std::make_unique<Lambda>(RootSet{{"inlay.relu"}, nullptr}, [](Operation *op, GraphRewriter &rewriter) {
          Operation *producer = op->getOperand(0).getDefiningOp();
          Value other = producer ? producer->getOperand(1) : op->getOperand(0);
          rewriter.setInsertionPoint(op);
          for (int i = 0; i < 40; ++i)
            other = NegOp::create(rewriter, op->getLoc(), other);
          rewriter.replaceOp(op, other);
          if (producer)
            rewriter.eraseOp(producer);
          return failure();
        }))));
    ASSERT_FALSE(static_cast<bool>(manager.add("good", std::make_unique<AddToSub>())));
    RewriteOptions options;
    options.driver = driver;
    EXPECT_EQ(*manager.rewrite(*module, options), 1u);
    EXPECT_EQ(manager.getStatistics("fails").rewritten, 0u);
    std::string after = print(*module);
    EXPECT_NE(after.find("inlay.sub"), std::string::npos) << after;
    EXPECT_EQ(after.find("inlay.neg"), std::string::npos) << after;
  }
}

TEST_F(ClassPatternsTest, SuccessWithoutAChangeEndsTheRun) {
  auto module = parseBody("%0 = inlay.relu %x : (!t) -> !t", "%0");
  EXPECT_EQ(
      rewrite(std::make_unique<Lambda>(RootSet{}, [](Operation *, GraphRewriter &) { return success(); }), *module),
      0u);
}

TEST_F(ClassPatternsTest, ChangesInPlaceWithoutEndAreNoticed) {
  auto module = parseBody("%0 = \"t.a\"(%x) {n = 0 : i64} : (!t) -> !t", "%0");
  std::string before = print(*module);
  RewritePatternManager manager;
  ASSERT_FALSE(static_cast<bool>(manager.add(
      "flip", std::make_unique<Lambda>(RootSet{{"t.a"}, nullptr}, [](Operation *op, GraphRewriter &rewriter) {
        int64_t n = op->getAttrOfType<IntegerAttr>("n").getInt();
        rewriter.modifyOpInPlace(op, [&] { op->setAttr("n", rewriter.getI64IntegerAttr(1 - n)); });
        return success();
      }))));
  EXPECT_NE(rewriteError(manager, *module).find("pattern 'flip' leads back"), std::string::npos);
  EXPECT_EQ(print(*module), before);
}

TEST_F(ClassPatternsTest, ErrorsNameTheLabelAndRestoreTheGraph) {
  auto module = parseBody(R"(%0 = inlay.add %x, %y : (!t, !t) -> !t
    %1 = inlay.relu %0 : (!t) -> !t)",
                          "%1");
  std::string before = print(*module);
  RewritePatternManager manager;
  ASSERT_FALSE(static_cast<bool>(manager.add("good", std::make_unique<AddToSub>())));
  ASSERT_FALSE(static_cast<bool>(manager.add(
      "bad", std::make_unique<Lambda>(RootSet{{"inlay.relu"}, nullptr}, [](Operation *op, GraphRewriter &rewriter) {
        rewriter.eraseOp(op);
        return success();
      }))));
  EXPECT_NE(rewriteError(manager, *module).find("pattern 'bad' can't rewrite"), std::string::npos);
  EXPECT_EQ(print(*module), before);
}

/// Counts additions.
struct CountAdd : PatternAnalyzer {
  CountAdd() : PatternAnalyzer({{"inlay.add"}, nullptr}) {}
  LogicalResult match(Operation *, Match &, const MatchContext &context) const override {
    ++tried;
    return success();
  }
  void analyze(const Match &match) override { roots.push_back(match.root); }
  std::vector<Operation *> roots;
  mutable unsigned tried = 0;
};

TEST_F(ClassPatternsTest, AnalysisMatchesOnceAndChangesNothing) {
  auto module = parseBody(R"(%0 = inlay.add %x, %y : (!t, !t) -> !t
    %1 = inlay.add %0, %y : (!t, !t) -> !t)",
                          "%1");
  std::string before = print(*module);
  AnalysisPatternManager manager;
  ASSERT_FALSE(static_cast<bool>(manager.add("count_add", std::make_unique<CountAdd>())));
  add(manager, rename("relu", "inlay.relu", "inlay.abs"));
  auto matches = manager.analyze(*module);
  ASSERT_TRUE(succeeded(matches));
  EXPECT_EQ(matches->size(), 2u);
  auto *counter = static_cast<CountAdd *>(manager.get("count_add"));
  EXPECT_EQ(counter->roots.size(), 2u);
  EXPECT_EQ(counter->tried, 2u);
  EXPECT_EQ(print(*module), before);
  unsigned found = 0;
  EXPECT_TRUE(succeeded(manager.analyze(*module, {}, [&](StringRef label, Match &) { return ++found, false; })));
  EXPECT_EQ(found, 1u);
}

TEST_F(ClassPatternsTest, AnalysisCapturesByName) {
  auto module = parseBody(R"(%0 = "t.a"(%y) : (!t) -> !t
    %1 = "t.b"(%0) : (!t) -> !t)",
                          "%1");
  AnalysisPatternManager manager;
  add(manager, R"(pdl.pattern @ab : benefit(1) {
    %in = pdl.operand
    %t = pdl.type
    %first = pdl.operation "t.a"(%in : !pdl.value) -> (%t : !pdl.type)
    %v = pdl.result 0 of %first
    %op = pdl.operation "t.b"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %op { pdl.erase %op }
  })");
  auto matches = manager.analyze(*module);
  ASSERT_TRUE(succeeded(matches));
  ASSERT_EQ(matches->size(), 1u);
  const Match &match = matches->front().match;
  EXPECT_EQ(match.get<Operation *>("first"), find(*module, "t.a"));
  EXPECT_EQ(match.get<Value>("in"), cast<func::FuncOp>(module->getBody()->front()).getArgument(1));
  EXPECT_EQ(match.get<Type>("t"), match.root->getResult(0).getType());
  EXPECT_EQ(match.ops.size(), 2u);
  EXPECT_EQ(match.get<Value>("none"), Value());
}
} // namespace
