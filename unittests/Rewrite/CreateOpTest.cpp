// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that ops are created with inferred types or not at all, and that uses move to values of other types only if the
// types of all users can follow.

#include "inlay/Rewrite/CreateOp.h"
#include "RewriteFixture.h"

using namespace mlir;
using namespace inlay;

namespace {
class CreateOpTest : public RewriteFixture {
protected:
  static constexpr const char *kText = R"(
func.func @f(%x: tensor<4xf32>, %y: tensor<2x4xf32>) -> tensor<4xf32> {
  %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = inlay.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = inlay.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
)";

  Value getArgument(ModuleOp module, unsigned number) {
    return find(module, "func.func")->getRegion(0).getArgument(number);
  }
};

TEST_F(CreateOpTest, TypesFollow) {
  auto module = parse(kText);
  GraphRewriter rewriter(&context);
  rewriter.setInsertionPointAfter(find(*module, "inlay.relu"));
  OperationState state(rewriter.getUnknownLoc(), "inlay.add");
  state.addOperands({getArgument(*module, 0), getArgument(*module, 1)});
  std::string why;
  Operation *op = createOp(rewriter, state, why);
  ASSERT_TRUE(op) << why;
  EXPECT_EQ(op->getResult(0).getType(), getArgument(*module, 1).getType());
}

TEST_F(CreateOpTest, WhatIsRefusedLeavesNothing) {
  auto module = parse(kText);
  std::string before = print(*module);
  GraphRewriter rewriter(&context);
  rewriter.setInsertionPointAfter(find(*module, "inlay.relu"));
  OperationState state(rewriter.getUnknownLoc(), "inlay.softmax");
  state.addOperands(getArgument(*module, 0));
  state.addAttribute("dim", rewriter.getStringAttr("last"));
  std::string why;
  EXPECT_FALSE(createOp(rewriter, state, why));
  EXPECT_NE(why.find("dim"), std::string::npos) << why;
  OperationState wrong(rewriter.getUnknownLoc(), "inlay.relu");
  wrong.addOperands(getArgument(*module, 0));
  wrong.addTypes(getArgument(*module, 1).getType());
  EXPECT_FALSE(createOp(rewriter, wrong, why));
  EXPECT_EQ(print(*module), before);
}

TEST_F(CreateOpTest, OtherTypesAreFollowedToTheEnd) {
  auto module = parse(kText);
  std::string before = print(*module);
  GraphRewriter rewriter(&context);
  moveUsesRetyped(rewriter, getArgument(*module, 0), getArgument(*module, 1));
  EXPECT_FALSE(rewriter.hasError());
  EXPECT_TRUE(succeeded(verify(*module)));
  Type type = getArgument(*module, 1).getType();
  EXPECT_EQ(find(*module, "inlay.add")->getResult(0).getType(), type);
  EXPECT_EQ(cast<func::FuncOp>(find(*module, "func.func")).getResultTypes()[0], type);
  rewriter.getJournal().undoTo(0);
  EXPECT_EQ(print(*module), before);
}

TEST_F(CreateOpTest, UsersThatCanNotFollowAreNamed) {
  auto module = parse(R"(
func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %0 = inlay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @g(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @h(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  %0 = call @g(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
)");
  std::string before = print(*module);
  GraphRewriter rewriter(&context);
  // Moves only one of two operands: 4 and 3 do not broadcast. A function that is called keeps its type.
  auto first = [&](OpOperand &use) { return use.getOperandNumber() == 0; };
  for (auto function : module->getOps<func::FuncOp>()) {
    moveUsesRetyped(rewriter, function.getArgument(0), function.getArgument(1), first);
    std::string error = rewriter.takeError();
    EXPECT_NE(error.find("can't take 'tensor<3xf32>' for 'tensor<4xf32>'"), std::string::npos) << error;
    rewriter.getJournal().undoTo(0);
  }
  EXPECT_EQ(print(*module), before);
}

TEST_F(CreateOpTest, AddedArgumentsAreUndone) {
  auto module = parse(kText);
  std::string before = print(*module);
  Journal journal;
  auto function = cast<func::FuncOp>(find(*module, "func.func"));
  journal.modifying(function);
  (void)function.insertArgument(2, getArgument(*module, 0).getType(), {}, function.getLoc());
  journal.addedArgument(&function.getBody().front());
  EXPECT_NE(print(*module), before);
  journal.undoTo(0);
  EXPECT_EQ(print(*module), before);
}

TEST_F(CreateOpTest, FreedOpsAreToldOf) {
  auto module = parse(kText);
  std::vector<std::string> freed;
  {
    GraphRewriter rewriter(&context);
    rewriter.getJournal().freeing = [&](Operation *op) { freed.push_back(op->getName().getStringRef().str()); };
    rewriter.setInsertionPointAfter(find(*module, "inlay.relu"));
    OperationState state(rewriter.getUnknownLoc(), "t.new");
    Journal::Mark mark = rewriter.getJournal().mark();
    rewriter.create(state);
    rewriter.getJournal().undoTo(mark);
    EXPECT_EQ(freed, std::vector<std::string>{"t.new"});
    Operation *add = find(*module, "inlay.add");
    rewriter.replaceOp(add, add->getOperands().take_front());
    EXPECT_EQ(freed.size(), 1u); // It may still be restored.
  }
  EXPECT_EQ(freed.back(), "inlay.add");
}
} // namespace
