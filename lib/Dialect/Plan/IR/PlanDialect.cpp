// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Dialect/Plan/IR/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace inlay::plan;

#include "inlay/Dialect/Plan/IR/PlanDialect.cpp.inc"
#include "inlay/Dialect/Plan/IR/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanTypes.cpp.inc"

#define GET_OP_CLASSES
#include "inlay/Dialect/Plan/IR/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "inlay/Dialect/Plan/IR/PlanOps.cpp.inc"
      >();
}

void PlanDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "inlay/Dialect/Plan/IR/PlanTypes.cpp.inc"
      >();
}

void PlanDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "inlay/Dialect/Plan/IR/PlanAttrs.cpp.inc"
      >();
}

LogicalResult KernelOp::verify() {
  if (!llvm::all_of(getBindings(), llvm::IsaPred<AccessAttr>))
    return emitOpError("expected bindings to be accesses, but got ") << getBindings();
  if (getBlock().size() != 3 || llvm::any_of(getBlock(), [](int64_t size) { return size < 1; }))
    return emitOpError("expected three positive block sizes, but got [") << getBlock() << "]";
  if (!getSpirv().getElementType().isInteger(32))
    return emitOpError("expected SPIR-V as 32-bit words, but got ") << getSpirv().getElementType();
  return success();
}

LogicalResult DispatchOp::verify() {
  auto engine = cast<EngineOp>((*this)->getParentOp());
  auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(engine, getKernelAttr()));
  if (!kernel)
    return emitOpError("expected a kernel of this engine, but got ") << getKernelAttr();
  if (getBuffers().size() != kernel.getBindings().size())
    return emitOpError("expected ") << kernel.getBindings().size() << " buffers, but got " << getBuffers().size();
  int64_t count = engine.getArguments() + engine.getScratch().getNumResults();
  for (int64_t buffer : getBuffers())
    if (buffer < 0 || buffer >= count)
      return emitOpError("expected numbers of the engine's ") << count << " buffers, but got " << buffer;
  if (getGrid().getNumResults() != 3)
    return emitOpError("expected a grid of three sizes, but got ") << getGrid().getNumResults();
  if (getPushConstants().getNumResults() != static_cast<unsigned>(kernel.getPushConstants()))
    return emitOpError("expected ") << kernel.getPushConstants() << " push constants, but got "
                                    << getPushConstants().getNumResults();
  return success();
}
