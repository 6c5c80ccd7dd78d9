// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of `dense_resource` constants: kept outside the text, given by whoever exported the model or read from a
// safetensors file beside the module.

#ifndef INLAY_IMPORT_WEIGHTS_H
#define INLAY_IMPORT_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay {

/// Bytes of one constant by its resource key. `owner` keeps them alive.
struct Weight {
  std::string key;
  const void *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
  std::string type; ///< if known, as a file says it: "F32[2,3]"
};

/// Maps `path`, a safetensors file (format: github.com/huggingface/safetensors), and returns its tensors. They share
/// one mapping. Errors say what is wrong with the file and where.
llvm::Expected<std::vector<Weight>> readSafetensors(const std::string &path);

/// Reads the file that the module's `inlay.weights` names, if any. Neither the name nor a link may leave `directory`.
/// Emits an error if the file isn't there or is broken, or has a weight of another type than its constant.
mlir::FailureOr<std::vector<Weight>> readModuleWeights(mlir::ModuleOp module, llvm::StringRef directory);

/// Gives the constants of `module` that name a resource the bytes of the weight of that key, without copying: the
/// weights must outlive the context's use of them.
void attachWeights(mlir::ModuleOp module, llvm::ArrayRef<Weight> weights);

/// Checks that every resource constant is of numbers and has as many bytes as its type needs.
mlir::LogicalResult verifyWeights(mlir::ModuleOp module);

} // namespace inlay

#endif // INLAY_IMPORT_WEIGHTS_H
