// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partitions a module of math ops for two declared targets, in a pipeline of the embedder.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Pipeline/InitAll.h"
#include "inlay/Pipeline/Pipeline.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

static constexpr llvm::StringLiteral kModule = R"mlir(
module attributes {inlay.targets = [#inlay.declared<"npu", ["math.exp", "math.tanh"]>,
                                    #inlay.declared<"cpu", ["*"]>]} {
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.exp %x : tensor<4xf32>
    %1 = math.cbrt %0 : tensor<4xf32>
    %2 = math.tanh %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
)mlir";

int main() {
  mlir::DialectRegistry registry;
  inlay::registerAll(registry);
  registry.insert<mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(kModule, &context);
  if (!module)
    return 1;

  // Add phases to a pass manager. Your own passes may stand before and after them.
  mlir::PassManager manager(&context);
  inlay::Options options;
  options.partition.minBlockSize = 1;
  inlay::buildPhase(manager, inlay::Phase::Partition, options);
  if (failed(manager.run(*module)))
    return 1;

  // Pass each segment to your backend. A segment is closed: all values that it uses are its inputs.
  module->walk([](inlay::SegmentOp segment) {
    llvm::outs() << segment.getTargetInterface().getTargetName() << ":";
    for (mlir::Operation &op : segment.getBody().front().without_terminator())
      llvm::outs() << " " << op.getName();
    llvm::outs() << "\n";
  });
  return 0;
}
