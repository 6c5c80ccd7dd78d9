// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a pipeline inside one pass.

#include "inlay/Support/PipelinePass.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
class PipelinePass : public PassWrapper<PipelinePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelinePass)

  PipelinePass(StringRef name, std::function<void(OpPassManager &)> build)
      : name(name.str()), pipeline(ModuleOp::getOperationName()) {
    build(pipeline);
  }

  StringRef getName() const override { return name; }

  void getDependentDialects(DialectRegistry &registry) const override { pipeline.getDependentDialects(registry); }

  void runOnOperation() override {
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }

private:
  std::string name;
  OpPassManager pipeline;
};
} // namespace

std::unique_ptr<Pass> inlay::createPipelinePass(StringRef name, std::function<void(OpPassManager &)> build) {
  return std::make_unique<PipelinePass>(name, std::move(build));
}
