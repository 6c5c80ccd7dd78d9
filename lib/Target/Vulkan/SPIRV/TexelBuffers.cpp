// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns storage buffers that are only read into texel buffers. VectorBuffers.cpp turns them into buffers of vectors.

#include "TexelBuffers.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"

using namespace mlir;
using namespace inlay;

namespace {
/// A storage buffer in the form that kernels have: a struct with one array.
struct StorageArray {
  Type element;
  int64_t count; ///< Number of elements; 0 if it is known only at a call.
};
} // namespace

static std::optional<StorageArray> readArray(spirv::GlobalVariableOp variable) {
  auto pointer = cast<spirv::PointerType>(variable.getType());
  auto holder = dyn_cast<spirv::StructType>(pointer.getPointeeType());
  if (pointer.getStorageClass() != spirv::StorageClass::StorageBuffer || !holder || holder.getNumElements() != 1)
    return std::nullopt;
  if (auto array = dyn_cast<spirv::ArrayType>(holder.getElementType(0)))
    return StorageArray{array.getElementType(), array.getNumElements()};
  if (auto array = dyn_cast<spirv::RuntimeArrayType>(holder.getElementType(0)))
    return StorageArray{array.getElementType(), 0};
  return std::nullopt;
}

/// Returns the ops that take the address of `variable` in the module's functions.
static SmallVector<spirv::AddressOfOp> findAddresses(spirv::ModuleOp module, spirv::GlobalVariableOp variable) {
  SmallVector<spirv::AddressOfOp> addresses;
  module.walk([&](spirv::AddressOfOp address) {
    if (address.getVariable() == variable.getSymName())
      addresses.push_back(address);
  });
  return addresses;
}

/// Returns true if `address` is only used to load elements.
static bool isOnlyLoaded(spirv::AddressOfOp address) {
  return llvm::all_of(address->getUsers(), [](Operation *user) {
    auto chain = dyn_cast<spirv::AccessChainOp>(user);
    return chain && chain.getIndices().size() == 2 && llvm::all_of(chain->getUsers(), llvm::IsaPred<spirv::LoadOp>);
  });
}

/// Replaces loads from the buffer at `address` by fetches from `image`.
static void fetchTexels(spirv::AddressOfOp address, spirv::GlobalVariableOp image) {
  OpBuilder builder(address);
  Value source = spirv::AddressOfOp::create(builder, address.getLoc(), image);
  Value loadedImage = spirv::LoadOp::create(builder, address.getLoc(), source);
  auto texel = VectorType::get({4}, builder.getF32Type());
  for (Operation *user : llvm::make_early_inc_range(address->getUsers())) {
    auto chain = cast<spirv::AccessChainOp>(user);
    for (Operation *load : llvm::make_early_inc_range(chain->getUsers())) {
      builder.setInsertionPoint(load);
      Value value = spirv::ImageFetchOp::create(builder, load->getLoc(), texel, loadedImage, chain.getIndices().back(),
                                                spirv::ImageOperandsAttr(), ValueRange());
      if (load->getResult(0).getType() != texel)
        value = spirv::CompositeExtractOp::create(builder, load->getLoc(), value, ArrayRef<int32_t>{0});
      load->getResult(0).replaceAllUsesWith(value);
      load->erase();
    }
    chain->erase();
  }
  address->erase();
}

SmallVector<plan::BindingKind> inlay::makeTexelBuffers(spirv::ModuleOp module, unsigned bindings, int64_t maxElements) {
  MLIRContext *context = module.getContext();
  Type scalar = Float32Type::get(context), vector = VectorType::get({4}, scalar);
  auto type = spirv::ImageType::get(scalar, spirv::Dim::Buffer, spirv::ImageDepthInfo::NoDepth,
                                    spirv::ImageArrayedInfo::NonArrayed, spirv::ImageSamplingInfo::SingleSampled,
                                    spirv::ImageSamplerUseInfo::NeedSampler, spirv::ImageFormat::Unknown);
  SmallVector<plan::BindingKind> kinds(bindings, plan::BindingKind::storage);
  for (auto variable : llvm::make_early_inc_range(module.getOps<spirv::GlobalVariableOp>())) {
    std::optional<StorageArray> array = readArray(variable);
    std::optional<uint32_t> binding = variable.getBinding();
    if (!array || !binding || *binding >= bindings || array->count < 1 || array->count > maxElements ||
        (array->element != scalar && array->element != vector))
      continue;
    SmallVector<spirv::AddressOfOp> addresses = findAddresses(module, variable);
    if (addresses.empty() || !llvm::all_of(addresses, isOnlyLoaded))
      continue;
    kinds[*binding] = array->element == vector ? plan::BindingKind::vector_texels : plan::BindingKind::scalar_texels;
    variable.setTypeAttr(TypeAttr::get(spirv::PointerType::get(type, spirv::StorageClass::UniformConstant)));
    for (spirv::AddressOfOp address : addresses)
      fetchTexels(address, variable);
  }
  return kinds;
}
