// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that the origins of code survive lowering: a model's ops are recorded as calls and lowered to SPIR-V, and each
// kernel must still lead to the user's calls.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/Origin.h"
#include "inlay/Dialect/Plan/IR/Plan.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Pipeline/Pipeline.h"
#include "inlay/Rewrite/Signature.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace inlay;

namespace {
/// An encoder layer and the head of a residual network, as the importer creates them from the demo's models.
constexpr const char *kEncoder = R"(
  func.func @forward(%x: tensor<1x32x64xf32>, %scale: tensor<64xf32>, %shift: tensor<64xf32>, %wqkv: tensor<192x64xf32>,
                     %bqkv: tensor<192xf32>, %wo: tensor<64x64xf32>, %w1: tensor<256x64xf32>, %b1: tensor<256xf32>,
                     %w2: tensor<64x256xf32>) -> tensor<1x32x64xf32> {
    %n = inlay.layer_norm %x, %scale, %shift eps 1.0e-05 : (tensor<1x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x32x64xf32>
    %qkv = inlay.linear %n, %wqkv, %bqkv : (tensor<1x32x64xf32>, tensor<192x64xf32>, tensor<192xf32>) -> tensor<1x32x192xf32>
    %q0 = inlay.slice %qkv dim 2 start 0 end 64 step 1 : (tensor<1x32x192xf32>) -> tensor<1x32x64xf32>
    %k0 = inlay.slice %qkv dim 2 start 64 end 128 step 1 : (tensor<1x32x192xf32>) -> tensor<1x32x64xf32>
    %v0 = inlay.slice %qkv dim 2 start 128 end 192 step 1 : (tensor<1x32x192xf32>) -> tensor<1x32x64xf32>
    %q1 = inlay.reshape %q0 shape [1, 32, 4, 16] : (tensor<1x32x64xf32>) -> tensor<1x32x4x16xf32>
    %q = inlay.permute %q1 dims [0, 2, 1, 3] : (tensor<1x32x4x16xf32>) -> tensor<1x4x32x16xf32>
    %k1 = inlay.reshape %k0 shape [1, 32, 4, 16] : (tensor<1x32x64xf32>) -> tensor<1x32x4x16xf32>
    %k = inlay.permute %k1 dims [0, 2, 3, 1] : (tensor<1x32x4x16xf32>) -> tensor<1x4x16x32xf32>
    %v1 = inlay.reshape %v0 shape [1, 32, 4, 16] : (tensor<1x32x64xf32>) -> tensor<1x32x4x16xf32>
    %v = inlay.permute %v1 dims [0, 2, 1, 3] : (tensor<1x32x4x16xf32>) -> tensor<1x4x32x16xf32>
    %half = inlay.constant dense<0.5> : tensor<f32>
    %qs = inlay.mul %q, %half : (tensor<1x4x32x16xf32>, tensor<f32>) -> tensor<1x4x32x16xf32>
    %scores = inlay.matmul %qs, %k : (tensor<1x4x32x16xf32>, tensor<1x4x16x32xf32>) -> tensor<1x4x32x32xf32>
    %p = inlay.softmax %scores dim 3 : (tensor<1x4x32x32xf32>) -> tensor<1x4x32x32xf32>
    %h = inlay.matmul %p, %v : (tensor<1x4x32x32xf32>, tensor<1x4x32x16xf32>) -> tensor<1x4x32x16xf32>
    %h1 = inlay.permute %h dims [0, 2, 1, 3] : (tensor<1x4x32x16xf32>) -> tensor<1x32x4x16xf32>
    %h2 = inlay.reshape %h1 shape [1, 32, 64] : (tensor<1x32x4x16xf32>) -> tensor<1x32x64xf32>
    %o = inlay.linear %h2, %wo, %shift : (tensor<1x32x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<1x32x64xf32>
    %r = inlay.add %x, %o : (tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    %n2 = inlay.layer_norm %r, %scale, %shift eps 1.0e-05 : (tensor<1x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x32x64xf32>
    %f1 = inlay.linear %n2, %w1, %b1 : (tensor<1x32x64xf32>, tensor<256x64xf32>, tensor<256xf32>) -> tensor<1x32x256xf32>
    %g = inlay.gelu %f1 : (tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
    %f2 = inlay.linear %g, %w2, %shift : (tensor<1x32x256xf32>, tensor<64x256xf32>, tensor<64xf32>) -> tensor<1x32x64xf32>
    %y = inlay.add %r, %f2 : (tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    return %y : tensor<1x32x64xf32>
  }
)";

constexpr const char *kResidual = R"(
  func.func @forward(%x: tensor<1x3x32x32xf32>, %w0: tensor<16x3x7x7xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>,
                     %w1: tensor<16x16x3x3xf32>, %fc: tensor<10x16xf32>, %bias: tensor<10xf32>) -> tensor<1x10xf32> {
    %0 = inlay.conv %x, %w0 stride [2, 2] padding [3, 3] dilation [1, 1] groups 1 : (tensor<1x3x32x32xf32>, tensor<16x3x7x7xf32>) -> tensor<1x16x16x16xf32>
    %1 = inlay.batch_norm %0, %a, %b, %b, %a eps 1.0e-05 : (tensor<1x16x16x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x16x16xf32>
    %2 = inlay.relu %1 : (tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
    %3 = inlay.max_pool %2 kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : (tensor<1x16x16x16xf32>) -> tensor<1x16x8x8xf32>
    %4 = inlay.conv %3, %w1 stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    %5 = inlay.batch_norm %4, %a, %b, %b, %a eps 1.0e-05 : (tensor<1x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x8x8xf32>
    %6 = inlay.add %5, %3 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %7 = inlay.relu %6 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %8 = inlay.mean %7 dims [2, 3] : (tensor<1x16x8x8xf32>) -> tensor<1x16xf32>
    %9 = inlay.linear %8, %fc, %bias : (tensor<1x16xf32>, tensor<10x16xf32>, tensor<10xf32>) -> tensor<1x10xf32>
    return %9 : tensor<1x10xf32>
  }
)";

struct Model {
  const char *name, *text;
};
void PrintTo(const Model &model, std::ostream *stream) { *stream << model.name; }

class SignatureLoweringTest : public testing::TestWithParam<Model> {
protected:
  SignatureLoweringTest() {
    DialectRegistry registry;
    registerAll(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  /// Builds the model's ops again, each as a separate call.
  OwningOpRef<ModuleOp> record(const char *text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return module;
    Attribute vulkan =
        parseAttribute(R"(#inlay.vulkan<max_workgroup_invocations = 1024, max_storage_buffers = 32>)", &context);
    (*module)->setAttr(InlayDialect::kTargetsAttr, ArrayAttr::get(&context, {vulkan}));
    auto function = *module->getOps<func::FuncOp>().begin();
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator())) {
      OpBuilder builder(&op);
      SignatureRecorder call(builder, *module, op.getName().stripDialect());
      if (op.getNumOperands())
        call.argument("input", call.tensor(op.getOperand(0)));
      Operation *again = builder.clone(op);
      op.replaceAllUsesWith(again);
      op.erase();
    }
    return module;
  }

  MLIRContext context;
};

TEST_P(SignatureLoweringTest, DeviceOpsLeadToCalls) {
  OwningOpRef<ModuleOp> module = record(GetParam().text);
  ASSERT_TRUE(module);
  size_t total = 0, found = 0, kernels = 0;
  llvm::StringMap<unsigned> lost;
  SignatureTable table(*module);
  context.registerActionHandler([&](llvm::function_ref<void()> transform, const tracing::Action &action) {
    transform();
    auto *pass = dyn_cast<PassExecutionAction>(&action);
    if (!pass || pass->getPass().getArgument() != "spirv-update-vce")
      return;
    ++kernels;
    pass->getOp()->walk([&](Operation *op) {
      ++total;
      SmallVector<StringRef> keys = getSignatureKeys(op->getLoc());
      bool leads = !keys.empty() && llvm::all_of(keys, [&](StringRef key) { return table.get(key).has_value(); });
      found += leads;
      if (!leads)
        ++lost[op->getName().getStringRef()];
    });
  });
  EXPECT_TRUE(succeeded(runPipeline(*module, Options())));
  context.registerActionHandler(nullptr);
  EXPECT_GT(kernels, 5u);
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const auto &entry : lost)
    stream << entry.getKey() << ": " << entry.second << ", ";
  EXPECT_GE(found, 0.95 * total) << found << " of " << total << "; without: " << text;
  RecordProperty("leading", found * 100.0 / total);
}

TEST_P(SignatureLoweringTest, DispatchesNameEveryCallThatComputes) {
  OwningOpRef<ModuleOp> module = record(GetParam().text);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(runPipeline(*module, Options())));
  llvm::StringSet<> named;
  module->walk([&](plan::DispatchOp dispatch) {
    SmallVector<StringRef> calls = getCalls(dispatch.getLoc());
    EXPECT_FALSE(calls.empty());
    named.insert_range(calls);
  });
  SignatureTable table(*module); // The records remain after the ops are gone.
  for (StringRef key : table.getKeys())
    if (!llvm::is_contained({"constant", "slice", "reshape", "permute"}, table.get(key)->getFunction()))
      EXPECT_TRUE(named.contains(key)) << key.str();
}

INSTANTIATE_TEST_SUITE_P(Models, SignatureLoweringTest,
                         testing::Values(Model{"encoder", kEncoder}, Model{"residual", kResidual}));
} // namespace
