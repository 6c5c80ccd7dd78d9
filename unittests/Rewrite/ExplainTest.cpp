// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that an explanation first names the only difference between a graph and a pattern.

#include "inlay/Rewrite/Explain.h"
#include "RewriteFixture.h"

using namespace mlir;
using namespace inlay;

namespace {
class ExplainTest : public RewriteFixture {
protected:
  ExplainTest() {
    add(manager, R"(pdl.pattern @fuse : benefit(1) {
      %x = pdl.operand
      %w = pdl.operand
      %b = pdl.operand
      %f32 = pdl.attribute = f32
      pdl.apply_native_constraint "dtype"(%b, %f32 : !pdl.value, !pdl.attribute)
      %mode = pdl.attribute = 1 : i64
      %t0 = pdl.type
      %t1 = pdl.type
      %t2 = pdl.type
      %matmul = pdl.operation "t.matmul"(%x, %w : !pdl.value, !pdl.value) {"mode" = %mode} -> (%t0 : !pdl.type)
      %m = pdl.result 0 of %matmul
      %sub = pdl.operation "t.sub"(%m, %b : !pdl.value, !pdl.value) -> (%t1 : !pdl.type)
      %s = pdl.result 0 of %sub
      %relu = pdl.operation "t.relu"(%s : !pdl.value) -> (%t2 : !pdl.type)
      pdl.rewrite %relu { pdl.replace %relu with (%b : !pdl.value) }
    })");
  }

  static void replace(std::string &text, const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  }

  /// Explains a graph that contains the matching block with `from` replaced by `to`, among blocks that match less.
  Explanation explainChanged(const std::string &from, const std::string &to) {
    std::string block = R"(%m = "t.matmul"(%x, %y) {mode = 1 : i64} : (!t, !t) -> !t
      %s = "t.sub"(%m, %b) : (!t, !t) -> !t
      %r = "t.relu"(%s) : (!t) -> !t
      "t.end"(%r) : (!t) -> ()
)";
    if (!from.empty())
      replace(block, from, to);
    module = parseBody("%b = \"t.bias\"() : () -> !t\n%h = \"t.half\"() : () -> tensor<4xf16>\n" + block +
                       R"(%o0 = "t.matmul"(%x, %y) {mode = 3 : i64} : (!t, !t) -> !t
                          %o1 = "t.relu"(%o0) : (!t) -> !t
                          %o2 = "t.sub"(%o1, %x) : (!t, !t) -> !t
                          "t.end"(%o2) : (!t) -> ())");
    return explain(*manager.get("fuse"), *module);
  }

  void expectFirst(const std::string &from, const std::string &to, StringRef op, StringRef why) {
    Explanation explanation = explainChanged(from, to);
    ASSERT_FALSE(explanation.mismatches.empty()) << from;
    EXPECT_EQ(explanation.matches, 0u);
    EXPECT_EQ(explanation.mismatches.front().op->getName().getStringRef(), op) << explanation.str("fuse");
    EXPECT_NE(explanation.mismatches.front().why.find(why), std::string::npos) << explanation.str("fuse");
    EXPECT_TRUE(isa<FileLineColLoc>(explanation.mismatches.front().patternLoc));
  }

  RewritePatternManager manager;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ExplainTest, TheChangedThingIsNamedFirst) {
  EXPECT_EQ(explainChanged("", "").matches, 1u);
  expectFirst("t.relu", "t.tanh", "t.tanh", "expected 't.relu', but found 't.tanh'");
  expectFirst("t.sub", "t.add", "t.add", "expected 't.sub', but found 't.add'");
  expectFirst("t.matmul", "t.conv", "t.conv", "expected 't.matmul', but found 't.conv'");
  expectFirst("mode = 1", "mode = 2", "t.matmul", "expected attribute 'mode' to be 1 : i64, but found 2 : i64");
  expectFirst("mode = 1 : i64", "other = 1", "t.matmul", "expected attribute 'mode', but there is none");
  expectFirst("(%m, %b)", "(%b, %m)", "t.sub", "but found them swapped");
  expectFirst("(%m, %b) : (!t, !t)", "(%m, %h) : (!t, tensor<4xf16>)", "t.sub", "expected dtype f32, but found f16");
  expectFirst("\"t.end\"(%r) : (!t)", "\"t.end\"(%r, %s) : (!t, !t)", "t.sub", "another user, 't.end'");
  expectFirst("(%x, %y) {mode = 1 : i64} : (!t, !t)", "(%x) {mode = 1 : i64} : (!t)", "t.matmul",
              "expected 2 operands, but found 1");
  expectFirst("(%m, %b)", "(%x, %b)", "t.sub", "expected a result of 't.matmul', but found a block argument");
}

TEST_F(ExplainTest, SaysItInASentence) {
  std::string text = explainChanged("t.sub", "t.add").str("fuse");
  EXPECT_NE(text.find("pattern 'fuse' matches at 0 places; the nearest miss is 't.relu'"), std::string::npos) << text;
  EXPECT_NE(text.find("at operand #0 of 't.relu', 't.add'"), std::string::npos) << text;
  EXPECT_NE(text.find("(patterns.pdl:13:14)"), std::string::npos) << text;
}

TEST_F(ExplainTest, AgreesWithMatching) {
  for (auto [from, to] :
       {std::pair("", ""), {"t.relu", "t.tanh"}, {"(%m, %b)", "(%b, %m)"}, {"mode = 1", "mode = 2"}}) {
    Explanation explanation = explainChanged(from, to);
    FailureOr<uint64_t> count = manager.rewrite(*module);
    ASSERT_TRUE(succeeded(count));
    EXPECT_EQ(*count, explanation.matches);
  }
}
} // namespace
