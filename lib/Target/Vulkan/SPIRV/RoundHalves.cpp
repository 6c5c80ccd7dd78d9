// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes conversions to f16 round to the nearest: by integer arithmetic before the conversion to SPIR-V, or by a
// decoration after it.

#include "RoundHalves.h"
#include "NarrowNumbers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace inlay;

/// Returns true if `user` stores to a storage buffer.
static bool storesInBuffer(Operation *user) {
  auto store = dyn_cast<memref::StoreOp>(user);
  return store && !store.getMemRefType().getMemorySpace();
}

void inlay::roundInnerHalves(Operation *root) {
  SmallVector<arith::TruncFOp> inner;
  root->walk([&](arith::TruncFOp truncation) {
    if (getElementTypeOrSelf(truncation.getType()).isF16() && getElementTypeOrSelf(truncation.getIn()).isF32() &&
        !llvm::all_of(truncation->getUsers(), storesInBuffer))
      inner.push_back(truncation);
  });
  for (arith::TruncFOp truncation : inner) {
    WordBuilder b(truncation);
    truncation.getInMutable().assign(roundFloat(b, truncation.getIn(), b.getF16Type()));
  }
}

void inlay::roundStoredHalves(spirv::ModuleOp module) {
  auto nearest = spirv::FPRoundingModeAttr::get(module.getContext(), spirv::FPRoundingMode::RTE);
  auto storesInBuffer = [](Operation *user) {
    auto store = dyn_cast<spirv::StoreOp>(user);
    return store &&
           cast<spirv::PointerType>(store.getPtr().getType()).getStorageClass() == spirv::StorageClass::StorageBuffer;
  };
  module.walk([&](spirv::FConvertOp convert) {
    Type type = convert.getType();
    bool isMatrix = !type.isF16() && !isa<VectorType>(type); // Devices round cooperative matrices.
    if (getElementTypeOrSelf(type).isF16() && !isMatrix && llvm::all_of(convert->getUsers(), storesInBuffer))
      convert->setAttr("fp_rounding_mode", nearest);
  });
}
