// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that calls with nested arguments are recorded, that calls nest, and that they stay valid when the graph around
// them changes.

#include "inlay/Rewrite/Signature.h"
#include "RewriteFixture.h"

#include "mlir/AsmParser/AsmParser.h"

#include "llvm/ADT/StringSet.h"

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

  /// Records attention(qkv = a, past = [x, y], bias = none, heads = 8), with two ops and two outputs.
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
  std::optional<Signature> call = table.get(plugin);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->getFunction(), "attention");
  EXPECT_EQ(call->getOps().size(), 2u);
  EXPECT_EQ(call->getInput("qkv"), a->getResult(0));
  EXPECT_EQ(call->getInput("past"), Value()); // A list.
  EXPECT_EQ(call->getInput("none"), Value());
  auto past = call->getArguments().getAs<ArrayAttr>("past");
  EXPECT_EQ(call->getInputTensor(cast<TensorAttr>(past[1]).getNumber()), a->getBlock()->getArgument(1));
  EXPECT_TRUE(isa<UnitAttr>(call->getArguments().get("bias")));
  EXPECT_EQ(call->getOutputTensors(), SmallVector<Value>(plugin->getResults()));
  EXPECT_EQ(getSignatureKeys(plugin->getLoc()), SmallVector<StringRef>({call->getKey()}));
  EXPECT_FALSE(table.get(a));
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
  EXPECT_FALSE(table.get(find(*module, "t.outside")));
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

TEST_F(SignatureTest, WhatReplacesAnOpOfTheCallTakesItsPart) {
  record();
  std::string key = getInnermostCall(find(*module, "t.scale")).str();
  Value input = SignatureTable(*module).get(key)->getInput("qkv");
  RewritePatternManager manager;
  add(manager, rename("scale", "t.scale", "t.fast_scale"));
  ASSERT_EQ(*manager.rewrite(*module), 1u);
  Operation *made = find(*module, "t.fast_scale");
  EXPECT_EQ(getSignatureKeys(made->getLoc()).size(), 1u);
  EXPECT_EQ(getInnermostCall(made), key);
  EXPECT_EQ(SignatureTable(*module).get(key)->getInput("qkv"), input);
}

TEST_F(SignatureTest, ThousandsOfCallsAreFewParts) {
  constexpr unsigned kCalls = 20000;
  Value x = a->getResult(0);
  SignatureTable table(*module);
  for (unsigned i = 0; i < kCalls; ++i) {
    Operation *op;
    {
      SignatureRecorder call(builder, *module, "call");
      call.argument("number", builder.getI64IntegerAttr(i));
      op = create("t.step", x);
      x = op->getResult(0);
    }
    table.add(op);
  }
  auto parts = (*module)->getAttrOfType<ArrayAttr>(InlayDialect::kSignaturesAttr);
  ASSERT_TRUE(parts);
  EXPECT_LE(parts.size(), llvm::Log2_32(kCalls) + 1);
  int64_t number = kCalls;
  for (Operation *op = x.getDefiningOp(); op != a; op = op->getOperand(0).getDefiningOp()) {
    std::optional<Signature> call = table.get(op);
    ASSERT_TRUE(call);
    ASSERT_EQ(call->getOps(), ArrayRef<Operation *>(op));
    ASSERT_EQ(cast<IntegerAttr>(call->getArguments().get("number")).getInt(), --number);
  }
  EXPECT_EQ(number, 0);
  EXPECT_EQ(table.getKeys().size(), kCalls);
}

TEST_F(SignatureTest, NoTwoCallsHaveOneKey) {
  (*module)->setAttr(InlayDialect::kSignaturesAttr,
                     parseAttribute("[{call_1 = {function = \"call\"}, call_3 = {}}, {other_7 = {}}]", &context));
  llvm::StringSet<> keys{"call_1", "call_3", "other_7"};
  {
    SignatureRecorder first(builder, *module, "call"), second(builder, *module, "call");
    EXPECT_TRUE(keys.insert(first.getKey()).second) << first.getKey().str();
    EXPECT_TRUE(keys.insert(second.getKey()).second) << second.getKey().str();
    SignatureRecorder(builder, *module, "call").outputs(builder.getUnitAttr());
  }
  SignatureRecorder last(builder, *module, "call");
  EXPECT_TRUE(keys.insert(last.getKey()).second) << last.getKey().str();
  EXPECT_EQ(SignatureTable(*module).getKeys().size(), 6u); // All except the last, which is still being recorded.
  EXPECT_EQ(SignatureTable(*module).get("call_1")->getFunction(), "call");
}

TEST_F(SignatureTest, ATableFollowsTheGraph) {
  SignatureTable table(*module);
  Operation *plugin = record();
  Operation *scale = plugin->getOperand(0).getDefiningOp();
  std::string key = getInnermostCall(plugin).str();
  EXPECT_TRUE(table.get(key)->getOps().empty()); // The table was not notified.
  table.add(plugin);
  table.add(scale);
  table.add(scale);
  EXPECT_EQ(table.get(key)->getOps(), ArrayRef<Operation *>({scale, plugin})); // In graph order.
  Attribute records = scale->getAttr(InlayDialect::kSignatureAttr);
  scale->removeAttr(InlayDialect::kSignatureAttr);
  EXPECT_EQ(table.get(key)->getOps(), ArrayRef<Operation *>(plugin));
  scale->setAttr(InlayDialect::kSignatureAttr, records);
  Operation *next = plugin->getNextNode();
  plugin->remove();
  EXPECT_EQ(table.get(key)->getOps(), ArrayRef<Operation *>(scale));
  next->getBlock()->getOperations().insert(next->getIterator(), plugin);
  EXPECT_EQ(table.get(key)->getOps().size(), 2u);
  table.forget(plugin);
  plugin->erase();
  EXPECT_EQ(table.get(key)->getOps(), ArrayRef<Operation *>(scale));
}

TEST_F(SignatureTest, OpsInRegionsStandWhereAWalkComesByThem) {
  auto again = parseBody(R"(
    %0 = "t.if"(%x) ({
      %1 = "t.then"(%x) : (!t) -> !t
      "t.jump"(%1)[^next] : (!t) -> ()
    ^next:
      "t.yield"(%1) : (!t) -> ()
    }, {
      %1 = "t.else"(%x) : (!t) -> !t
      "t.yield"(%1) : (!t) -> ()
    }) : (!t) -> !t
    "t.last"(%0) : (!t) -> ())");
  ASSERT_TRUE(again);
  SmallVector<Operation *> all;
  again->walk([&](Operation *op) { all.push_back(op); });
  for (Operation *op : all)
    op->setAttr(InlayDialect::kSignatureAttr, parseAttribute("[{call = \"call_0\"}]", &context));
  (*again)->setAttr(InlayDialect::kSignaturesAttr, parseAttribute("[{call_0 = {}}]", &context));
  SignatureTable table(*again);
  for (Operation *op : all)
    table.forget(op);
  for (Operation *op : llvm::reverse(all))
    table.add(op);
  EXPECT_EQ(table.get("call_0")->getOps(), ArrayRef<Operation *>(all));
}
} // namespace
