// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the weights of a module and checks their types against the constants. `spellType` lists the dtypes that
// constants can have in a safetensors file; `Safetensors.cpp` reads the format and does not interpret dtypes.

#include "inlay/Import/Weights.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace inlay;

/// Calls `visit` with each constant, of any dialect, that names a resource.
static WalkResult visitResources(ModuleOp module,
                                 function_ref<LogicalResult(Operation *, DenseResourceElementsAttr)> visit) {
  return module.walk([&](Operation *op) {
    auto resource = op->getAttrOfType<DenseResourceElementsAttr>("value");
    return resource && failed(visit(op, resource)) ? WalkResult::interrupt() : WalkResult::advance();
  });
}

//===-- Files ---------------------------------------------------------------------------------------------------===//

/// Returns the path of the file `name` in `directory`. Reports an error if the name or a link leads elsewhere.
static FailureOr<std::string> findBeside(ModuleOp module, StringRef name, StringRef directory) {
  namespace path = llvm::sys::path;
  auto reject = [&] {
    return module.emitError("expected 'inlay.weights' to name a file in the module's folder, but got '") << name << "'";
  };
  if (name.empty() || name == "." || name == ".." || path::has_parent_path(name) || name.contains('\0'))
    return reject();
  SmallString<128> file(directory), realFile, realDirectory;
  path::append(file, name);
  if (std::error_code error = llvm::sys::fs::real_path(file, realFile))
    return module.emitError("weight file '") << file << "': " << error.message();
  if (llvm::sys::fs::real_path(directory.empty() ? "." : directory, realDirectory) ||
      path::parent_path(realFile) != realDirectory)
    return reject() << ", which leads to '" << realFile << "'";
  if (!llvm::sys::fs::is_regular_file(realFile)) // Reading a pipe might never end.
    return module.emitError("weight file '") << file << "': expected a regular file";
  return file.str().str();
}

/// Returns the type of a constant in the spelling of safetensors files, or an empty string for element types that they
/// lack.
static std::string spellType(ShapedType type) {
  Type element = type.getElementType();
  std::string text = element.isInteger(1)          ? "BOOL"
                     : element.isBF16()            ? "BF16"
                     : isa<FloatType>(element)     ? "F" + std::to_string(element.getIntOrFloatBitWidth())
                     : element.isSignlessInteger() ? "I" + std::to_string(element.getIntOrFloatBitWidth())
                                                   : "";
  if (text.empty())
    return text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleave(type.getShape(), stream, ",");
  stream << ']';
  return text;
}

static LogicalResult checkTypes(ModuleOp module, ArrayRef<Weight> weights, StringRef file) {
  llvm::StringMap<StringRef> types;
  for (const Weight &weight : weights)
    types[weight.key] = weight.type;
  WalkResult walk = visitResources(module, [&](Operation *op, DenseResourceElementsAttr resource) -> LogicalResult {
    auto known = types.find(resource.getRawHandle().getKey());
    std::string expected = spellType(resource.getType());
    if (known == types.end() || resource.getRawHandle().getBlob() || expected.empty() || known->second == expected)
      return success();
    return op->emitError("expected ") << expected << " for weight '" << known->first() << "', but '" << file << "' has "
                                      << known->second;
  });
  return failure(walk.wasInterrupted());
}

FailureOr<std::vector<Weight>> inlay::readModuleWeights(ModuleOp module, StringRef directory) {
  Attribute attribute = module->getAttr(InlayDialect::kWeightsAttr);
  if (!attribute)
    return std::vector<Weight>();
  auto name = dyn_cast<StringAttr>(attribute);
  if (!name)
    return module.emitError("expected 'inlay.weights' to be a string, but got ") << attribute;
  FailureOr<std::string> path = findBeside(module, name, directory);
  if (failed(path))
    return failure();
  llvm::Expected<std::vector<Weight>> weights = readSafetensors(*path);
  if (!weights)
    return module.emitError() << llvm::toString(weights.takeError());
  if (failed(checkTypes(module, *weights, name)))
    return failure();
  return std::move(*weights);
}

//===-- Constants -----------------------------------------------------------------------------------------------===//

void inlay::attachWeights(ModuleOp module, ArrayRef<Weight> weights) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(module.getContext()).getBlobManager();
  llvm::StringMap<const Weight *> byKey;
  for (const Weight &weight : weights)
    byKey[weight.key] = &weight;
  visitResources(module, [&](Operation *, DenseResourceElementsAttr resource) {
    if (resource.getRawHandle().getBlob())
      return success();
    StringRef key = resource.getRawHandle().getKey();
    if (const Weight *weight = byKey.lookup(key)) {
      ArrayRef<char> bytes(static_cast<const char *>(weight->data), weight->size);
      manager.update(key, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, alignof(double)));
    }
    return success();
  });
}

/// Returns the size in bytes of a constant of `type`, with one byte per i1. Returns std::nullopt if its elements are
/// not numbers or the size overflows.
static std::optional<uint64_t> countBytes(ShapedType type) {
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  uint64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t dim : type.getShape())
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      return std::nullopt;
  return bytes;
}

LogicalResult inlay::verifyWeights(ModuleOp module) {
  WalkResult walk = visitResources(module, [](Operation *op, DenseResourceElementsAttr resource) -> LogicalResult {
    StringRef key = resource.getRawHandle().getKey();
    std::optional<uint64_t> expected = countBytes(resource.getType());
    if (!expected)
      return op->emitError("expected weight '")
             << key << "' to be a tensor of numbers of less than 2^64 bytes, but got " << resource.getType();
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return op->emitError("expected bytes for weight '") << key << "', but none were given";
    if (blob->getData().size() != *expected)
      return op->emitError("expected ") << *expected << " bytes for weight '" << key << "', but got "
                                        << blob->getData().size();
    return success();
  });
  return failure(walk.wasInterrupted());
}
