// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline as one pass, for callers who add passes one by one.

#ifndef INLAY_SUPPORT_PIPELINEPASS_H
#define INLAY_SUPPORT_PIPELINEPASS_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>

namespace inlay {

/// A pass on modules that runs what `build` adds to a manager. It has no flag: textual pipelines name the parts.
std::unique_ptr<mlir::Pass> createPipelinePass(llvm::StringRef name, std::function<void(mlir::OpPassManager &)> build);

} // namespace inlay

#endif // INLAY_SUPPORT_PIPELINEPASS_H
