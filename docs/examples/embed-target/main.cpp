// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partitions a model for a new target, converts it, runs it, and compares the results with those of the host.

#include "Dsp.h"
#include "DspMachine.h"

#include "inlay/Execution/Load.h"
#include "inlay/Partition/Report.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Pipeline/Pipeline.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

static constexpr llvm::StringLiteral kModel = R"mlir(
module {
  func.func @forward(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %half = inlay.constant dense<0.5> : tensor<2x4xf32>
    %w = inlay.constant dense<[[1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0]]> : tensor<2x4xf32>
    %0 = inlay.mul %x, %w : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")
    %1 = inlay.add %0, %half : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("shift")
    %2 = inlay.relu %1 : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("relu")
    %3 = inlay.exp %2 : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("exp")
    %4 = inlay.add %3, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("mix")
    return %4 : tensor<2x4xf32>
  }
}
)mlir";

/// Compiles the model for `targets` and runs it. Returns the result, or std::nullopt after an error on standard error.
static std::optional<std::vector<float>> run(MLIRContext &context, StringRef targets) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModel, &context);
  Attribute list = parseAttribute(targets, &context);
  if (!module || !list)
    return std::nullopt;
  (*module)->setAttr(inlay::InlayDialect::kTargetsAttr, list);

  std::string report; // of the last partition, which is the converted one
  inlay::PipelineObserver observer;
  observer.finished = [&](inlay::Phase phase, ModuleOp after) {
    if (phase == inlay::Phase::Partition)
      report = inlay::getReport(after, inlay::ReportFormat::Table);
  };
  if (failed(inlay::runPipeline(*module, inlay::Options(), observer)))
    return std::nullopt;
  llvm::outs() << report;

  inlay::LoadOptions loading;
  loading.runners["dsp"] = std::make_shared<dsp::DspRunner>();
  auto loaded = inlay::loadProgram(*module, loading);
  if (!loaded.isOk()) {
    llvm::errs() << loaded.status().message() << "\n";
    return std::nullopt;
  }
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y = {8, 7, 6, 5, 4, 3, 2, 1}, result(8);
  auto view = [](std::vector<float> &data) {
    return inlay::rt::TensorView{data.data(), inlay::rt::ElementType::F32, {2, 4}};
  };
  for (float &value : x)
    value /= 8;
  inlay::rt::Status status = loaded->program->call({view(x), view(y)}, {view(result)});
  if (!status.isOk()) {
    llvm::errs() << status.message() << "\n";
    return std::nullopt;
  }
  llvm::outs() << targets << " ran " << loaded->plan->foreignEngines.size() << " engines of the dsp and "
               << loaded->plan->hostCode.functions.size() << " host functions\n";
  return result;
}

int main() {
  DialectRegistry registry;
  inlay::registerAll(registry);
  registry.insert<dsp::DspDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  auto alone = run(context, "[#inlay.host]");
  if (!alone)
    return 1;
  // Each op fits a machine with four registers, but the whole segment does not. The op that exceeds the registers falls
  // back to the host, with the error of the conversion as its reason.
  for (StringRef targets : {"[#dsp.target<registers = 8>, #inlay.host]", "[#dsp.target<registers = 4>, #inlay.host]"}) {
    auto divided = run(context, targets);
    if (!divided)
      return 1;
    float largest = 0;
    for (size_t i = 0; i < alone->size(); ++i)
      largest = std::max(largest, std::abs((*alone)[i] - (*divided)[i]));
    llvm::outs() << "largest difference from the host alone: " << llvm::format("%.1e", largest) << "\n\n";
    if (!(largest < 1e-5))
      return 1;
  }
  return 0;
}
