// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests compiling in process for the host, as embedders do, also from several threads.

#include "inlay/Execution/Compile.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <gtest/gtest.h>

#include <thread>

using namespace inlay;

namespace {

CompileRequest makeRequest(std::string text) {
  CompileRequest request;
  request.text = std::move(text);
  request.name = "model.mlir";
  request.targets = {"host"};
  return request;
}

/// Returns a module that computes x * factor + weights for two elements.
std::string affine(int factor) {
  return R"(
func.func public @forward(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
  %f = inlay.constant dense<)" +
         std::to_string(factor) + R"(.0> : tensor<2xf32>
  %w = inlay.constant dense_resource<w> : tensor<2xf32>
  %0 = inlay.mul %x, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = inlay.add %0, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("sum"("user.py":7:3))
  return %1 : tensor<2xf32>
}
)";
}

std::shared_ptr<const float> makeWeights(float first) {
  return std::shared_ptr<const float>(new float[2]{first, first + 1}, std::default_delete<const float[]>());
}

void addWeights(CompileRequest &request, std::shared_ptr<const float> weights) {
  request.weights.push_back({"w", weights.get(), 8, weights, ""});
}

std::array<float, 2> call(rt::Program &program, float x) {
  std::array<float, 2> input{x, x}, output{};
  rt::Status status =
      program.call({{input.data(), rt::ElementType::F32, {2}}}, {{output.data(), rt::ElementType::F32, {2}}});
  EXPECT_TRUE(status.isOk()) << status.message();
  return output;
}

TEST(CompileTest, RunsWithWeightsThatOnlyTheProgramKeeps) {
  std::weak_ptr<const float> watch;
  {
    rt::StatusOr<CompiledProgram> compiled = [&] {
      CompileRequest request = makeRequest(affine(3));
      std::shared_ptr<const float> weights = makeWeights(10);
      watch = weights;
      addWeights(request, weights);
      return compile(request);
    }();
    ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(call(*compiled->program, 2), (std::array<float, 2>{16, 17}));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(CompileTest, SaysWhereAnErrorIs) {
  rt::StatusOr<CompiledProgram> compiled = compile(makeRequest(affine(3)));
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.status().code(), rt::StatusCode::InvalidArgument);
  EXPECT_EQ(compiled.status().message(), "model.mlir:4:8: error: expected bytes for weight 'w', but none were given");
  CompileRequest request = makeRequest(R"(
func.func public @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.mulf %x, %x : tensor<2xf32>
  %1 = arith.addf %0, %x : tensor<2xf32> loc("sum"("user.py":7:3))
  return %1 : tensor<2xf32>
}
)");
  request.targets = {"torch"};
  std::string message = compile(request).status().message();
  EXPECT_NE(message.find("error: no target can run 'arith.mulf'"), std::string::npos) << message;
  EXPECT_NE(message.find("user.py:7:3 (sum): error: no target can run 'arith.addf'"), std::string::npos) << message;
}

TEST(CompileTest, KernelsAreNamedByTheCallsTheyCameFrom) {
  CompileRequest request = makeRequest(R"(
func.func public @forward(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = inlay.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "linear_0"}>["a"])
  %1 = inlay.matmul %0, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "linear_1"}>["b"])
  %2 = inlay.matmul %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(fused<{inlay.signature = "linear_2"}>["c"])
  %3 = inlay.tanh %2 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("d")
  return %3 : tensor<4x8xf32>
}
)");
  request.targets = {"vulkan", "host"};
  rt::StatusOr<CompiledProgram> compiled = compile(request);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  if (!compiled->device)
    GTEST_SKIP() << "no Vulkan device";
  std::vector<std::string> names;
  for (const rt::Kernel &kernel : compiled->plan->engines.front().kernels)
    names.push_back(kernel.name);
  EXPECT_EQ(names, std::vector<std::string>({"k0 of linear_0, linear_1", "k1 of linear_2, d"}));
  for (const rt::Step &step : compiled->plan->steps)
    if (step.kind == rt::StepKind::LaunchEngine)
      EXPECT_EQ(step.calls, std::vector<std::string>({"linear_0", "linear_1", "linear_2"}));
}

TEST(CompileTest, RefusesUnknownTargetsAndNoTargets) {
  CompileRequest request = makeRequest(affine(3));
  request.targets = {"host", "npu"};
  EXPECT_EQ(compile(request).status().message(), "unknown target 'npu': expected vulkan, host or torch");
}

TEST(CompileTest, ReportsPhasesInOrder) {
  CompileRequest request = makeRequest(affine(3));
  addWeights(request, makeWeights(1));
  std::string phases;
  request.progress = [&](llvm::StringRef phase, unsigned number, unsigned count) {
    phases += (phase + " " + std::to_string(number) + "/" + std::to_string(count) + "\n").str();
  };
  ASSERT_TRUE(compile(request).isOk());
  EXPECT_EQ(phases, "import 0/6\nrewrite 1/6\npartition 2/6\nshape 3/6\nconvert 4/6\nstitch 5/6\n");
}

TEST(CompileTest, CompilesAndRunsOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 6; ++number)
    threads.emplace_back([number] {
      CompileRequest request = makeRequest(affine(number + 1));
      if (number % 3 == 2) { // Each thread gets its own error.
        EXPECT_NE(compile(request).status().message().find("expected bytes for weight 'w'"), std::string::npos);
        return;
      }
      addWeights(request, makeWeights(number));
      rt::StatusOr<CompiledProgram> compiled = compile(request);
      ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
      for (int i = 0; i < 100; ++i)
        EXPECT_EQ(call(*compiled->program, i)[1], i * (number + 1) + number + 1);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(CompileTest, OneProgramServesSeveralThreads) {
  CompileRequest request = makeRequest(affine(2));
  addWeights(request, makeWeights(5));
  rt::StatusOr<CompiledProgram> compiled = compile(request);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (int i = 0; i < 200; ++i)
        EXPECT_EQ(call(*compiled->program, i + 1000 * number)[0], 2 * (i + 1000 * number) + 5);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Doubles floats. The payload contains their number.
class DoublingRunner : public rt::Runner {
  struct Doubling : rt::LoadedForeignEngine {
    rt::Status run(const std::vector<rt::TensorView> &inputs, const std::vector<rt::TensorView> &outputs) override {
      for (int i = 0; i < 2; ++i)
        static_cast<float *>(outputs[0].data)[i] = 2 * static_cast<const float *>(inputs[0].data)[i];
      return rt::Status::ok();
    }
  };

  rt::StatusOr<std::shared_ptr<rt::LoadedForeignEngine>> load(const rt::ForeignEngine &engine) override {
    if (engine.payload != std::string("2\0", 2))
      return rt::Status(rt::StatusCode::InvalidArgument, "expected two");
    return std::shared_ptr<rt::LoadedForeignEngine>(std::make_shared<Doubling>());
  }
};

constexpr const char *kForeignProgram = R"(
plan.foreign_engine @twice runner "doubling" payload "2\00" arguments 2 inputs 1
plan.program @forward {
  %x = plan.input 0 "x" : <tensor<2xf32>, host>
  %y = plan.output 0 "y" : <tensor<2xf32>, host>
  plan.run @twice(%x) outs(%y) : (!plan.buffer<tensor<2xf32>, host>) -> !plan.buffer<tensor<2xf32>, host>
})";

TEST(CompileTest, RunsForeignEnginesByTheCallersRunner) {
  CompileRequest request = makeRequest(kForeignProgram);
  request.options.from = Phase::Stitch;
  request.runners["doubling"] = std::make_shared<DoublingRunner>();
  rt::StatusOr<CompiledProgram> compiled = compile(request);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_EQ(call(*compiled->program, 4)[1], 8.0f);
  request.runners.clear();
  EXPECT_EQ(compile(request).status().message(),
            "segment 'twice': the plan needs the runner 'doubling', but no runner has that name");
}

/// A program with a framework call that computes y. Dims of z and x determine n, and a dim of x determines m.
constexpr const char *kDynamicProgram = R"(
plan.program @forward attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>, #inlay.symbol<"m", 0 to 4>]} {
  %x = plan.input 0 "x" : <tensor<?x?xf32>, host, affine_map<()[s0, s1] -> (s0 * 2 + 1, s1 * -1 + 5)>>
  %z = plan.input 1 "z" : <tensor<?xf32>, host, affine_map<()[s0, s1] -> (s0)>>
  %y = plan.output 0 "y" : <tensor<?x3xf32>, host, affine_map<()[s0, s1] -> ((s0 * s1 + 1) ceildiv 2, 3)>>
  plan.callback "f"(%x, %z) outs(%y) {sizes = affine_map<()[s0, s1] -> (s0 floordiv 2, (s1 + 4) mod 3, -4)>}
    : (!plan.buffer<tensor<?x?xf32>, host, affine_map<()[s0, s1] -> (s0 * 2 + 1, s1 * -1 + 5)>>,
       !plan.buffer<tensor<?xf32>, host, affine_map<()[s0, s1] -> (s0)>>)
    -> !plan.buffer<tensor<?x3xf32>, host, affine_map<()[s0, s1] -> ((s0 * s1 + 1) ceildiv 2, 3)>>
})";

TEST(CompileTest, FindsSymbolsInTheInputs) {
  CompileRequest request = makeRequest(kDynamicProgram);
  request.options.from = Phase::Stitch;
  std::vector<int64_t> numbers;
  request.callbacks = [&](uint32_t, auto &, auto &, const std::vector<int64_t> &sizes) {
    numbers = sizes;
    return rt::Status::ok();
  };
  rt::StatusOr<CompiledProgram> compiled = compile(request);
  ASSERT_TRUE(compiled.isOk()) << compiled.status().message();
  EXPECT_EQ(*compiled->program->outputDims({{7, 1}, {3}}), (std::vector<std::vector<int64_t>>{{7, 3}}));
  std::vector<float> x(7 * 1), z(3), y(7 * 3);
  rt::Status status =
      compiled->program->call({{x.data(), rt::ElementType::F32, {7, 1}}, {z.data(), rt::ElementType::F32, {3}}},
                              {{y.data(), rt::ElementType::F32, {7, 3}}});
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2, -4}));
  auto refuse = [&](const rt::InputDims &dims) { return compiled->program->outputDims(dims).status().message(); };
  EXPECT_EQ(refuse({{7}, {3}}), "input 'x': expected float32[2*n + 1 x -1*m + 5], but got float32[7]");
  EXPECT_EQ(refuse({{9, 1}, {3}}), "input 'x': dim 0 is 9, but '2*n + 1' is 7 according to dim 0 of input 'z'");
  EXPECT_EQ(refuse({{7, 6}, {3}}), "input 'x': dim 1 ('-1*m + 5') is 6, so 'm' is -1, but expected 0 to 4");
  EXPECT_EQ(refuse({{19, 1}, {9}}), "input 'z': dim 0 ('n') is 9, but expected 1 to 8");
}

TEST(CompileTest, NamesASymbolThatNoInputSays) {
  CompileRequest request = makeRequest(R"(
plan.program @forward attributes {inlay.symbols = [#inlay.symbol<"n", 1 to 8>, #inlay.symbol<"m", 1 to 8>]} {
  %x = plan.input 0 "x" : <tensor<?x?xf32>, host, affine_map<()[s0, s1] -> (s0, s0 * s1)>>
})");
  request.options.from = Phase::Stitch;
  std::string message = compile(request).status().message();
  EXPECT_NE(message.find("expected an input with a dim that determines 'm'"), std::string::npos) << message;
}

TEST(CompileTest, KnowsTheCallersDialects) {
  CompileRequest request = makeRequest(R"(
module attributes {inlay.targets = [#inlay.declared<"npu", ["tosa.exp"]>, #inlay.declared<"cpu", ["*"]>]} {
  func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})");
  request.targets.clear();
  EXPECT_FALSE(partition(request).isOk());
  request.extend = [](mlir::DialectRegistry &registry) { registry.insert<mlir::tosa::TosaDialect>(); };
  rt::StatusOr<std::string> report = partition(request);
  ASSERT_TRUE(report.isOk()) << report.status().message();
  EXPECT_NE(report->find("tosa.exp"), std::string::npos);
}

} // namespace
