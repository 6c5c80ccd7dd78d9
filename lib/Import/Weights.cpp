// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Import/Weights.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace inlay;

FailureOr<std::vector<Weight>> inlay::readModuleWeights(ModuleOp module, StringRef directory) {
  auto name = module->getAttrOfType<StringAttr>(InlayDialect::kWeightsAttr);
  if (!name)
    return std::vector<Weight>();
  if (llvm::sys::path::has_parent_path(name.getValue()) || name.getValue().starts_with("..") || name.empty())
    return module.emitError("expected 'inlay.weights' to name a file in the module's folder, but got ") << name;
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name.getValue());
  llvm::Expected<std::vector<Weight>> weights = readSafetensors(path.str().str());
  if (!weights)
    return module.emitError() << llvm::toString(weights.takeError());
  return std::move(*weights);
}

void inlay::attachWeights(ModuleOp module, ArrayRef<Weight> weights) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(module.getContext()).getBlobManager();
  llvm::StringMap<const Weight *> byKey;
  for (const Weight &weight : weights)
    byKey[weight.key] = &weight;
  module.walk([&](ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!resource || resource.getRawHandle().getBlob())
      return;
    StringRef key = resource.getRawHandle().getKey();
    if (const Weight *weight = byKey.lookup(key)) {
      ArrayRef<char> bytes(static_cast<const char *>(weight->data), weight->size);
      manager.update(key, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, alignof(double)));
    }
  });
}

LogicalResult inlay::verifyWeights(ModuleOp module) {
  WalkResult walk = module.walk([](ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!resource)
      return WalkResult::advance();
    ShapedType type = resource.getType();
    int64_t expected = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      constant.emitError("expected bytes for weight '") << resource.getRawHandle().getKey() << "', but none were given";
    else if (static_cast<int64_t>(blob->getData().size()) != expected)
      constant.emitError("expected ") << expected << " bytes for weight '" << resource.getRawHandle().getKey()
                                      << "', but got " << blob->getData().size();
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
