// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the answers of targets to which ops they can run, from one thread and from many threads at once.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Pipeline/InitAll.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace inlay;

namespace {

constexpr const char *kModule = R"(
func.func @ops(%x: tensor<4x6xf32>, %d: tensor<?xf32>, %h: tensor<4xf64>, %e: tensor<0xf32>, %b: tensor<4xi1>,
               %u: tensor<4xui8>, %l: tensor<65537xf32>) {
  %0 = inlay.relu %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = inlay.lgamma %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = inlay.relu %d : (tensor<?xf32>) -> tensor<?xf32>
  %3 = inlay.relu %h : (tensor<4xf64>) -> tensor<4xf64>
  %4 = inlay.exp %e : (tensor<0xf32>) -> tensor<0xf32>
  %5 = inlay.permute %b dims [0] : (tensor<4xi1>) -> tensor<4xi1>
  %6 = inlay.relu %u : (tensor<4xui8>) -> tensor<4xui8>
  %7 = inlay.opaque "aten::sort"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = inlay.opaque "aten::sort"(%x) call "{}" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %9 = inlay.sum %l dims [0] : (tensor<65537xf32>) -> tensor<f32>
  %10 = func.call @callee(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %11 = arith.addf %x, %x : tensor<4x6xf32>
  %12 = inlay.softmax %x dim 1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
func.func private @callee(tensor<4x6xf32>) -> tensor<4x6xf32>
)";

class CanRunTest : public testing::Test {
protected:
  CanRunTest() {
    DialectRegistry registry;
    registerAll(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kModule, &context);
    for (const char *text : {"#inlay.vulkan", "#inlay.vulkan<features = [\"float64\"]>", "#inlay.host", "#inlay.torch"})
      targets.push_back(cast<TargetAttrInterface>(parseAttribute(text, &context)));
    auto function = *module->getOps<func::FuncOp>().begin();
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
  }

  /// Returns "supported", or the reason code and the message.
  std::string ask(unsigned target, unsigned op) {
    Verdict verdict = targets[target].canRun(ops[op]);
    return verdict.isSupported() ? "supported" : (stringifyReasonCode(verdict.code) + ": " + verdict.text).str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<TargetAttrInterface> targets;
  std::vector<Operation *> ops;
};

TEST_F(CanRunTest, SaysWhyNot) {
  const std::pair<unsigned, const char *> onVulkan[] = {
      {0, "supported"},
      {1, "no-converter: vulkan can't call the library function 'lgammaf'"},
      {2, "unsupported-shape: expected tensors whose dims follow from the dims of inputs, but got tensor<?xf32>"},
      {3, "unsupported-type: 'f64' needs the device feature float64"},
      {4, "supported"}, // No elements.
      {5, "supported"},
      {7, "no-converter: no pattern converts aten::sort"},
      {9, "unsupported-shape: expected at most 65534 steps of a reduction per element"},
      {10, "no-converter: no pattern converts func.call"},
      {12, "supported"},
  };
  for (auto [op, answer] : onVulkan)
    EXPECT_EQ(ask(0, op), answer);
  EXPECT_EQ(ask(1, 3), "supported");
  for (unsigned op : {0, 1, 3, 5, 9, 12})
    EXPECT_EQ(ask(2, op), "supported") << op;
  for (unsigned op : {0, 8, 9, 12})
    EXPECT_EQ(ask(3, op), "supported") << op;
  EXPECT_EQ(ask(3, 2), "unsupported-type: inlay.relu has an operand or result that is not a tensor whose dims follow "
                       "from the dims of inputs");
  EXPECT_EQ(ask(3, 7), "unsupported-attribute: aten::sort doesn't say how to make the call");
  EXPECT_EQ(ask(3, 11), "no-converter: arith.addf is not a framework call");
}

TEST_F(CanRunTest, TellsNobodyElseOfATrialsErrors) {
  unsigned heard = 0;
  context.getDiagEngine().registerHandler([&](Diagnostic &) { ++heard; });
  for (unsigned target = 0; target < targets.size(); ++target)
    for (unsigned op = 0; op < ops.size(); ++op)
      ask(target, op);
  EXPECT_EQ(heard, 0u);
}

TEST_F(CanRunTest, AnswersManyThreadsAlike) {
  std::vector<std::string> expected, answers;
  for (unsigned i = 0; i < targets.size() * ops.size(); ++i)
    expected.push_back(ask(i / ops.size(), i % ops.size()));
  for (int round = 0; round < 4; ++round) {
    answers.assign(expected.size(), "");
    parallelFor(&context, 0, answers.size(), [&](size_t i) { answers[i] = ask(i / ops.size(), i % ops.size()); });
    EXPECT_EQ(answers, expected);
  }
}

} // namespace
