// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of `dense_resource` constants. It is kept outside the text and comes from the exporter of the model or from
// a safetensors file in the folder of the module.

#ifndef INLAY_IMPORT_WEIGHTS_H
#define INLAY_IMPORT_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace inlay {

/// The data of one constant. `owner` keeps the memory alive.
struct Weight {
  std::string key;
  const void *data = nullptr;
  size_t size = 0; ///< In bytes.
  std::shared_ptr<const void> owner;
  std::string type; ///< Type in the spelling of safetensors ("F32[2,3]"); empty if unknown.
};

/// Maps the safetensors file `path` (format: github.com/huggingface/safetensors) and returns its tensors. They share
/// one mapping. Errors name the file and the tensor at fault.
llvm::Expected<std::vector<Weight>> readSafetensors(const std::string &path);

/// Reads the file that the module's `inlay.weights` names. Returns no weights without that attribute. Neither the name
/// nor a link may lead out of `directory`. Emits an error if the file is missing or malformed, or if a weight has
/// another type than its constant.
mlir::FailureOr<std::vector<Weight>> readModuleWeights(mlir::ModuleOp module, llvm::StringRef directory);

/// Attaches the data of each weight to the constants of `module` that name its key as a resource. Constants that have
/// data already keep it. Copies nothing: the memory of the weights must stay valid as long as the context uses the
/// constants.
void attachWeights(mlir::ModuleOp module, llvm::ArrayRef<Weight> weights);

/// Checks that every resource constant has elements that are numbers, and data of the size that its type needs.
mlir::LogicalResult verifyWeights(mlir::ModuleOp module);

} // namespace inlay

#endif // INLAY_IMPORT_WEIGHTS_H
