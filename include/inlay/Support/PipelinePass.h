// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wraps a pipeline in one pass, for callers that add passes one by one.

#ifndef INLAY_SUPPORT_PIPELINEPASS_H
#define INLAY_SUPPORT_PIPELINEPASS_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>

namespace inlay {

/// Creates a pass on modules that runs the pipeline that `build` creates. The pass has no flag: textual pipelines name
/// the passes inside it.
std::unique_ptr<mlir::Pass> createPipelinePass(llvm::StringRef name, std::function<void(mlir::OpPassManager &)> build);

} // namespace inlay

#endif // INLAY_SUPPORT_PIPELINEPASS_H
