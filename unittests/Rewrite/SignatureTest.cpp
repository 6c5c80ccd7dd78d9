// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls are recorded with nested arguments, nest themselves, and stay right when the graph around them changes.

#include "inlay/Rewrite/Signature.h"
#include "RewriteFixture.h"

#include <random>

using namespace mlir;
using namespace inlay;

namespace {
class SignatureTest : public RewriteFixture {
protected:
  SignatureTest() {
    module = parseBody("%0 = \"t.a\"(%x) : (!t) -> !t\n\"t.end\"(%0) : (!t) -> ()");
    a = find(*module, "t.a");
    builder.setInsertionPointAfter(a);
  }

  Operation *create(StringRef name, ValueRange operands, unsigned results = 1) {
    OperationState state(UnknownLoc::get(&context), name);
    state.addOperands(operands);
    state.types.assign(results, a->getResult(0).getType());
    return builder.create(state);
  }

  /// attention(qkv = a, past = [x, y], bias = none, heads = 8) of two ops and two outputs
  Operation *record() {
    SignatureRecorder call(builder, *module, "attention");
    auto arguments = a->getBlock()->getArguments();
    call.argument("qkv", call.tensor(a->getResult(0)));
    call.argument("past", builder.getArrayAttr({call.tensor(arguments[0]), call.tensor(arguments[1])}));
    call.argument("bias", builder.getUnitAttr());
    call.argument("heads", builder.getI64IntegerAttr(8));
    Operation *first = create("t.scale", a->getResult(0));
    Operation *plugin = create("t.plugin", {first->getResult(0), arguments[0], arguments[1]}, 2);
    call.outputs(builder.getArrayAttr({call.tensor(plugin->getResult(0)), call.tensor(plugin->getResult(1))}));
    return plugin;
  }

  OwningOpRef<ModuleOp> module;
  OpBuilder builder{&context};
  Operation *a;
};

TEST_F(SignatureTest, ArgumentsAndOutputsByName) {
  Operation *plugin = record();
  SignatureTable table(*module);
  const Signature *call = table.get(plugin);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->getFunction(), "attention");
  EXPECT_EQ(call->getOps().size(), 2u);
  EXPECT_EQ(call->getInput("qkv"), a->getResult(0));
  EXPECT_EQ(call->getInput("past"), Value()); // a list
  EXPECT_EQ(call->getInput("none"), Value());
  auto past = call->getArguments().getAs<ArrayAttr>("past");
  EXPECT_EQ(call->getInputTensor(cast<TensorAttr>(past[1]).getNumber()), a->getBlock()->getArgument(1));
  EXPECT_TRUE(isa<UnitAttr>(call->getArguments().get("bias")));
  EXPECT_EQ(call->getOutputTensors(), SmallVector<Value>(plugin->getResults()));
  EXPECT_EQ(getSignatureKeys(plugin->getLoc()), SmallVector<StringRef>({call->getKey()}));
  EXPECT_EQ(table.get(a), nullptr);
}

TEST_F(SignatureTest, SurvivesText) {
  record();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  auto again = parse(text);
  SignatureTable table(*again);
  Operation *plugin = find(*again, "t.plugin");
  ASSERT_TRUE(table.get(plugin));
  EXPECT_EQ(table.get(plugin)->getInput("qkv"), find(*again, "t.a")->getResult(0));
  EXPECT_EQ(getSignatureKeys(plugin->getLoc()).size(), 1u);
  EXPECT_TRUE(succeeded(verify(*again)));
}

TEST_F(SignatureTest, CallsNest) {
  Operation *inner = nullptr;
  std::string outerKey, innerKey;
  {
    SignatureRecorder outer(builder, *module, "block");
    outerKey = outer.getKey().str();
    outer.argument("x", outer.tensor(a->getResult(0)));
    {
      SignatureRecorder call(builder, *module, "norm");
      innerKey = call.getKey().str();
      call.argument("input", call.tensor(a->getResult(0)));
      inner = create("t.norm", a->getResult(0));
    }
    create("t.more", inner->getResult(0));
  }
  create("t.outside", a->getResult(0));
  SignatureTable table(*module);
  EXPECT_EQ(table.get(inner)->getKey(), innerKey);
  EXPECT_EQ(table.get(inner)->getParent(), outerKey);
  EXPECT_EQ(table.get(outerKey)->getOps().size(), 2u);
  EXPECT_EQ(table.get(outerKey)->getInput("x"), a->getResult(0));
  EXPECT_EQ(getSignatureKeys(inner->getLoc()), SmallVector<StringRef>({innerKey, outerKey}));
  EXPECT_EQ(table.get(find(*module, "t.outside")), nullptr);
  EXPECT_EQ(builder.getListener(), nullptr);
}

TEST_F(SignatureTest, NoInputIsStaleAfterARewrite) {
  Operation *plugin = record();
  RewritePatternManager manager;
  add(manager, rename("a", "t.a", "t.b"));
  ASSERT_EQ(*manager.rewrite(*module), 1u);
  SignatureTable table(*module);
  EXPECT_EQ(table.get(plugin)->getInput("qkv"), find(*module, "t.b")->getResult(0));
}

TEST_F(SignatureTest, InputsAreReplacedInTheCallAlone) {
  Operation *plugin = record();
  Operation *end = find(*module, "t.end");
  Value y = a->getBlock()->getArgument(1);
  IRRewriter rewriter(&context);
  SignatureTable table(*module);
  table.get(plugin)->replaceInputWith(rewriter, a->getResult(0), y);
  EXPECT_EQ(table.get(plugin)->getInput("qkv"), y);
  EXPECT_EQ(end->getOperand(0), a->getResult(0));
}

TEST_F(SignatureTest, OutputsUsesAreMoved) {
  Operation *plugin = record();
  Operation *user = create("t.user", plugin->getResults(), 0);
  Value x = a->getBlock()->getArgument(0), y = a->getBlock()->getArgument(1);
  IRRewriter rewriter(&context);
  SignatureTable table(*module);
  EXPECT_TRUE(failed(table.get(plugin)->replaceOutputsUsesWith(rewriter, {x})));
  EXPECT_TRUE(succeeded(table.get(plugin)->replaceOutputsUsesWith(rewriter, {y, x})));
  EXPECT_EQ(user->getOperand(0), y);
  EXPECT_EQ(user->getOperand(1), x);
}

TEST_F(SignatureTest, WhatTheFunctionReturnsStaysInItsPlace) {
  Operation *plugin = record();
  Operation *end = a->getBlock()->getTerminator();
  end->setOperands({plugin->getResult(1), a->getResult(0), plugin->getResult(0)});
  Value x = a->getBlock()->getArgument(0), y = a->getBlock()->getArgument(1);
  IRRewriter rewriter(&context);
  SignatureTable table(*module);
  ASSERT_TRUE(succeeded(table.get(plugin)->replaceOutputsUsesWith(rewriter, {x, y})));
  EXPECT_EQ(SmallVector<Value>(end->getOperands()), SmallVector<Value>({y, a->getResult(0), x}));
}

TEST_F(SignatureTest, OutputsNestAndMayRepeat) {
  Operation *op;
  {
    SignatureRecorder call(builder, *module, "cell");
    op = create("t.cell", a->getResult(0), 3);
    Attribute r0 = call.tensor(op->getResult(0)), r1 = call.tensor(op->getResult(1)),
              r2 = call.tensor(op->getResult(2));
    auto state = builder.getDictionaryAttr({{builder.getStringAttr("c"), r2}, {builder.getStringAttr("h"), r1}});
    call.outputs(builder.getArrayAttr({r0, state, builder.getUnitAttr(), r0}));
  }
  SignatureTable table(*module);
  EXPECT_EQ(table.get(op)->getOutputTensors(),
            SmallVector<Value>({op->getResult(0), op->getResult(2), op->getResult(1), op->getResult(0)}));
}

TEST_F(SignatureTest, ACallIsBuiltAnewWithAnotherInput) {
  Operation *plugin = record();
  Value x = a->getBlock()->getArgument(0);
  CallInputs inputs = SignatureTable(*module).get(plugin)->cloneInputs();
  EXPECT_EQ(inputs.getTensor("qkv"), a->getResult(0));
  EXPECT_EQ(inputs.getTensor("past"), Value());
  inputs.setTensor("qkv", x);
  inputs.set("heads", builder.getI64IntegerAttr(4));
  Operation *again;
  builder.setInsertionPointAfter(plugin);
  {
    SignatureRecorder call(builder, *module, "attention");
    call.copyArguments(inputs);
    again = create("t.plugin", {x, x, a->getBlock()->getArgument(1)}, 2);
  }
  SignatureTable table(*module);
  EXPECT_EQ(table.get(again)->getInput("qkv"), x);
  EXPECT_EQ(cast<IntegerAttr>(table.get(again)->getArguments().get("heads")).getInt(), 4);
  auto past = table.get(again)->getArguments().getAs<ArrayAttr>("past");
  ASSERT_TRUE(past);
  EXPECT_EQ(table.get(again)->getInputTensor(cast<TensorAttr>(past[1]).getNumber()), a->getBlock()->getArgument(1));
  EXPECT_EQ(table.get(plugin)->getInput("qkv"), a->getResult(0));
}

TEST_F(SignatureTest, ARewriteOfTheCallKeepsItsNameInLocations) {
  record();
  RewritePatternManager manager;
  add(manager, rename("scale", "t.scale", "t.fast_scale"));
  ASSERT_EQ(*manager.rewrite(*module), 1u);
  Operation *made = find(*module, "t.fast_scale");
  EXPECT_EQ(getSignatureKeys(made->getLoc()).size(), 1u);
  EXPECT_FALSE(made->hasAttr(InlayDialect::kSignatureAttr)); // its operands may be others than the recorded op's
}
} // namespace
