// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets the memory model and lists the matrix shapes of a SPIR-V module. Blocks/CooperativeMatrixEmitter.cpp emits
// the matrix ops.

#include "CooperativeMatrixModules.h"
#include "inlay/Support/MatrixShape.h"
#include "inlay/Support/ToText.h"

using namespace mlir;
using namespace inlay;

bool inlay::hasMatrices(spirv::ModuleOp module) {
  return module.walk([](spirv::KHRCooperativeMatrixMulAddOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static bool isInWorkgroup(Value pointer) {
  return cast<spirv::PointerType>(pointer.getType()).getStorageClass() == spirv::StorageClass::Workgroup;
}

void inlay::useVulkanMemoryModel(spirv::ModuleOp module) {
  if (!hasMatrices(module))
    return;
  module.setMemoryModel(spirv::MemoryModel::Vulkan);
  auto shared = spirv::MemoryAccessAttr::get(module.getContext(), spirv::MemoryAccess::NonPrivatePointer);
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<spirv::LoadOp>(op); load && isInWorkgroup(load.getPtr()))
      load.setMemoryAccessAttr(shared);
    else if (auto store = dyn_cast<spirv::StoreOp>(op); store && isInWorkgroup(store.getPtr()))
      store.setMemoryAccessAttr(shared);
    else if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op); load && isInWorkgroup(load.getPointer()))
      load.setMemoryOperandAttr(shared);
    else if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op); store && isInWorkgroup(store.getPointer()))
      store.setMemoryOperandAttr(shared);
    else if (auto barrier = dyn_cast<spirv::ControlBarrierOp>(op))
      barrier.setMemorySemantics(barrier.getMemorySemantics() | spirv::MemorySemantics::MakeAvailable |
                                 spirv::MemorySemantics::MakeVisible);
  });
}

SmallVector<std::string> inlay::listMatrixShapes(spirv::ModuleOp module) {
  SmallVector<std::string> shapes;
  module.walk([&](spirv::KHRCooperativeMatrixMulAddOp product) {
    auto lhs = cast<spirv::CooperativeMatrixType>(product.getA().getType());
    auto rhs = cast<spirv::CooperativeMatrixType>(product.getB().getType());
    auto sum = cast<spirv::CooperativeMatrixType>(product.getC().getType());
    std::string shape = formatMatrixShape({lhs.getRows(), rhs.getColumns(), lhs.getColumns(),
                                           toText(lhs.getElementType()), toText(sum.getElementType())});
    if (!llvm::is_contained(shapes, shape))
      shapes.push_back(shape);
  });
  return shapes;
}
