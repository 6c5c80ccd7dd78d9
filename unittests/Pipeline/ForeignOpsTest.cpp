// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests ops of a dialect that does not depend on Inlay. Partitioning must use the external models of these ops.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/OpInterface.h"
#include "inlay/Partition/Partitioning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace inlay;

namespace {

/// The ops `mine.a`, ... accept any operands and results.
template <char name>
struct MyOp : Op<MyOp<name>, OpTrait::VariadicOperands, OpTrait::VariadicResults, OpTrait::ZeroRegions> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MyOp)
  using Op<MyOp<name>, OpTrait::VariadicOperands, OpTrait::VariadicResults, OpTrait::ZeroRegions>::Op;
  static StringRef getOperationName() {
    static constexpr char text[] = {'m', 'i', 'n', 'e', '.', name, 0};
    return text;
  }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

using Compute = MyOp<'c'>; // Only on the npu.
using Print = MyOp<'p'>;   // Only on the host.
using Weight = MyOp<'w'>;
using Move = MyOp<'m'>;
using Pack = MyOp<'k'>;
using Write = MyOp<'s'>;
using View = MyOp<'v'>;

struct MyDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MyDialect)
  explicit MyDialect(MLIRContext *context) : Dialect("mine", context, TypeID::get<MyDialect>()) {
    addOperations<Compute, Print, Weight, Move, Pack, Write, View>();
  }
  static StringRef getDialectNamespace() { return "mine"; }
};

template <typename Op>
struct Pure : PartitionOpInterface::ExternalModel<Pure<Op>, Op> {
  bool statesEffects(Operation *) const { return true; }
  bool isConstant(Operation *) const { return std::is_same_v<Op, Weight>; }
  bool isNeutral(Operation *) const { return std::is_same_v<Op, Move> || std::is_same_v<Op, Pack>; }
  bool isCheapToClone(Operation *) const { return std::is_same_v<Op, Pack>; }
};

constexpr int64_t kFirst[] = {0};
struct WriteModel : PartitionOpInterface::ExternalModel<WriteModel, Write> {
  bool statesEffects(Operation *) const { return true; }
  ArrayRef<int64_t> getWrittenOperands(Operation *) const { return kFirst; }
};
struct ViewModel : PartitionOpInterface::ExternalModel<ViewModel, View> {
  bool statesEffects(Operation *) const { return true; }
  ArrayRef<int64_t> getAliasedOperands(Operation *) const { return kFirst; }
};

class ForeignOpsTest : public testing::Test {
protected:
  ForeignOpsTest() {
    DialectRegistry registry;
    registerPartitionDialects(registry);
    registry.insert<MyDialect, func::FuncDialect>();
    registry.addExtension(+[](MLIRContext *context, MyDialect *) {
      Compute::attachInterface<Pure<Compute>>(*context);
      Print::attachInterface<Pure<Print>>(*context);
      Weight::attachInterface<Pure<Weight>>(*context);
      Move::attachInterface<Pure<Move>>(*context);
      Pack::attachInterface<Pure<Pack>>(*context);
      Write::attachInterface<WriteModel>(*context);
      View::attachInterface<ViewModel>(*context);
    });
    context.appendDialectRegistry(registry);
  }

  /// Returns the segments of a function with this body: "npu: c m | host: p".
  std::string segment(std::string body) {
    std::string text = R"(module attributes {inlay.targets = [
      #inlay.declared<"npu", ["mine.c", "mine.m", "mine.k"]>, #inlay.declared<"host", ["*"]>]} {
      func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {)" +
                       body + " return } }";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module || failed(partition(*module, PartitionInfo())))
      return "failed";
    std::string result;
    module->walk<WalkOrder::PreOrder>([&](SegmentOp segment) {
      result += (result.empty() ? "" : " | ") + segment.getTargetInterface().getTargetName().str() + ":";
      for (Operation &op : segment.getBody().front().without_terminator())
        result += " " + op.getName().stripDialect().str();
    });
    return result;
  }

  MLIRContext context;
};

TEST_F(ForeignOpsTest, UsesAloneOrderPureOps) {
  EXPECT_EQ(segment(R"(
    %0 = "mine.c"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "mine.p"(%x) : (tensor<4xf32>) -> ()
    %1 = "mine.c"(%y) : (tensor<4xf32>) -> tensor<4xf32>)"),
            "host: p | npu: c c");
}

TEST_F(ForeignOpsTest, EachSegmentHasItsConstants) {
  EXPECT_EQ(segment(R"(
    %w = "mine.w"() : () -> tensor<4xf32>
    %0 = "mine.c"(%w) : (tensor<4xf32>) -> tensor<4xf32>
    "mine.p"(%w, %0) : (tensor<4xf32>, tensor<4xf32>) -> ())"),
            "npu: w c | host: w p");
}

TEST_F(ForeignOpsTest, NeutralOpsJoin) {
  EXPECT_EQ(segment(R"(
    %0 = "mine.m"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "mine.p"(%0) : (tensor<4xf32>) -> ())"),
            "host: m p");
}

TEST_F(ForeignOpsTest, CheapOpsAreCloned) {
  EXPECT_EQ(segment(R"(
    %l = "mine.k"(%x) : (tensor<4xf32>) -> !inlay.list<tensor<4xf32>>
    %0 = "mine.c"(%l) : (!inlay.list<tensor<4xf32>>) -> tensor<4xf32>
    "mine.p"(%l, %0) : (!inlay.list<tensor<4xf32>>, tensor<4xf32>) -> ())"),
            "npu: k c | host: k p");
}

TEST_F(ForeignOpsTest, WritesKeepTheirOrderThroughViews) {
  EXPECT_EQ(segment(R"(
    %0 = "mine.c"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %v = "mine.v"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "mine.s"(%v) : (tensor<4xf32>) -> ()
    %1 = "mine.c"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"),
            "npu: c | host: v s | npu: c");
}

} // namespace
