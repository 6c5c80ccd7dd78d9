// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Execution/CompileSpec.h"
#include "inlay/Pipeline/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace inlay;

namespace {

constexpr const char *kText = R"mlir(
func.func @forward(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0 = inlay.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
  %1 = inlay.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("neg")
  %2 = inlay.add %n, %n : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32> loc("add")
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xi32>
}
)mlir";

std::vector<InputRange> ranges() { return {{2, 3}, {2, 3}}; }

/// Returns the error message of compiling for these ranges.
std::string refusal(std::vector<InputRange> inputs) {
  CompileSpec spec(std::move(inputs));
  spec.targets = {"host"};
  return compile(Module(kText), spec).status().message();
}

struct CompileSpecTest : testing::Test {
  float x[6] = {-2, -1, 0, 1, 2, 3};
  int32_t n[6] = {1, 2, 3, 4, 5, 6};
  Tensor first = Tensor::view(x, {2, 3}), second = Tensor::view(n, {2, 3}, rt::ElementType::I32);
};

} // namespace

TEST_F(CompileSpecTest, CompilesAndRuns) {
  CompileSpec spec(ranges());
  spec.targets = {"host"};
  CompiledModule compiled = compile(Module(kText), spec);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  rt::StatusOr<std::vector<Tensor>> results = compiled.forward({first, second});
  ASSERT_TRUE(results.isOk()) << results.status().message();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*results)[0].count(), 6);
  EXPECT_EQ((*results)[0].data<float>()[5], -3.0F);
  EXPECT_EQ((*results)[1].element(), rt::ElementType::I32);
  EXPECT_EQ((*results)[1].data<int32_t>()[5], 12);
}

TEST_F(CompileSpecTest, TakesAModuleInMemory) {
  mlir::DialectRegistry registry;
  registerAll(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(kText, &context);
  CompileSpec spec;
  spec.targets = {"host"};
  CompiledModule compiled = compile(Module(*module), spec);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_NE(compiled.report().find("\"label\": \"relu\""), std::string::npos) << compiled.report();
  EXPECT_TRUE(compiled.forward({first, second}).isOk());
}

TEST_F(CompileSpecTest, SettingsReachThePartitioner) {
  CompileSpec spec(ranges());
  spec.targets = {"host"};
  spec.torch_executed_ops = {"aten::reluu"};
  std::string message = compile(Module(kText), spec).status().message();
  EXPECT_NE(message.find("aten::reluu"), std::string::npos) << message;
  spec.torch_executed_ops.clear();
  spec.targets = {"hots"};
  message = compile(Module(kText), spec).status().message();
  EXPECT_NE(message.find("did you mean 'host'"), std::string::npos) << message;
}

TEST_F(CompileSpecTest, NamesTheWrongRange) {
  EXPECT_EQ(refusal({{2, 3}}), "expected a range for each of 2 inputs, but got 1");
  EXPECT_EQ(refusal({{2, 3}, {2, 4}}), "input 1: expected the module's int32[2x3], but got [2, 4]");
  EXPECT_EQ(refusal({{2, 3}, InputRange({1, 3}, {2, 3}, {4, 3})}),
            "input 1: expected the module's int32[2x3], but got [1, 3] to [4, 3]");
  EXPECT_EQ(refusal({InputRange({3, 3}, {2, 3}, {4, 3})}),
            "input 0: dim 0: expected 0 <= min <= opt <= max, but got 3, 2 and 4");
  EXPECT_EQ(refusal({InputRange({3}, {2, 3}, {4, 3})}),
            "input 0: expected min, opt and max of equal rank, but got [3], [2, 3] and [4, 3]");
}

TEST_F(CompileSpecTest, NamesTheWrongInput) {
  CompileSpec spec;
  spec.targets = {"host"};
  CompiledModule compiled = compile(Module(kText), spec);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  auto refuse = [&](const std::vector<Tensor> &inputs) { return compiled.forward(inputs).status().message(); };
  EXPECT_NE(refuse({first}), "");
  EXPECT_NE(refuse({first, first}).find("int32[2x3]"), std::string::npos) << refuse({first, first});
  EXPECT_NE(refuse({Tensor::view(x, {3, 2}), second}).find("float32[2x3]"), std::string::npos);
  EXPECT_NE(refuse({Tensor::view(nullptr, {2, 3}), second}), "");
  EXPECT_NE(refuse({Tensor::view(x, {6}), second}), "");
}

TEST_F(CompileSpecTest, FailuresSayWhatIsWrong) {
  EXPECT_EQ(Module::load("no/such/file.mlir").status().code(), rt::StatusCode::NotFound);
  CompiledModule broken = compile(Module("func.func @forward("));
  EXPECT_FALSE(broken.isOk());
  EXPECT_EQ(broken.forward({first}).status().message(), broken.status().message());
  EXPECT_FALSE(Tensor::zeros({-1}).isOk());
  EXPECT_FALSE(Tensor::zeros({int64_t(1) << 40, int64_t(1) << 40}).isOk());
  EXPECT_TRUE(Tensor::zeros({0, 3}).isOk());
}

TEST_F(CompileSpecTest, RangesAreWithinTheSymbols) {
  Module module(R"mlir(
func.func @forward(%x: tensor<?x3xf32> {inlay.dims = affine_map<()[s0] -> (s0, 3)>} loc("x")) -> tensor<?x3xf32>
    attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>]} {
  return %x : tensor<?x3xf32>
})mlir");
  auto compileFor = [&](InputRange range) {
    CompileSpec spec({std::move(range)});
    spec.targets = {"host"};
    return compile(module, spec);
  };
  CompiledModule compiled = compileFor(InputRange({1, 3}, {2, 3}, {4, 3}));
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  rt::StatusOr<std::vector<Tensor>> results = compiled.forward({first});
  ASSERT_TRUE(results.isOk()) << results.status().message();
  EXPECT_EQ((*results)[0].shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*results)[0].data<float>()[5], 3.0F);
  EXPECT_EQ(compileFor(InputRange({1, 3}, {2, 3}, {9, 3})).status().message(),
            "input 'x': dim 0 ('batch') is 9, but expected 1 to 8");
  EXPECT_EQ(compileFor(InputRange({1, 3}, {2, 3}, {4, 4})).status().message(),
            "input 0: expected the module's float32[batch x 3], but got [1, 3] to [4, 4]");
}
