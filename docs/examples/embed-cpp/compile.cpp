// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the model below and calls it.

#include "inlay/Execution/CompileSpec.h"

#include "llvm/Support/raw_ostream.h"

using inlay::CompileSpec;
using inlay::InputRange;
using inlay::Tensor;

static constexpr llvm::StringLiteral kModel = R"mlir(
func.func @forward(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = inlay.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("exp")
  %1 = inlay.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("relu")
  %2 = inlay.add %1, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("add")
  return %2 : tensor<2x4xf32>
}
)mlir";

int main() {
  inlay::Module module{kModel.str()};
  CompileSpec cfg(std::vector<InputRange>{{2, 4}});
  cfg.min_block_size = 1;
  cfg.torch_executed_ops.push_back("aten::relu");
  auto compiled = inlay::compile(module, cfg);
  if (!compiled.isOk()) {
    llvm::errs() << compiled.status().message() << "\n";
    return 1;
  }
  if (!compiled.notice().empty())
    llvm::errs() << compiled.notice() << "\n";

  std::vector<float> zeros(8);
  auto input = Tensor::view(zeros.data(), {2, 4});
  auto results = compiled.forward({input});
  if (!results.isOk()) {
    llvm::errs() << results.status().message() << "\n";
    return 1;
  }
  llvm::outs() << "result: " << results->front().data<float>()[0] << "\n";
  llvm::outs() << compiled.report() << "\n";
  return 0;
}
