// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inlay dialect: types, attributes, interfaces and ops.

#ifndef INLAY_DIALECT_INLAY_IR_INLAY_H
#define INLAY_DIALECT_INLAY_IR_INLAY_H

#include "inlay/Support/MatrixShape.h"
#include "inlay/Support/Reason.h"
#include "inlay/Support/TargetCosts.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

#include "inlay/Dialect/Inlay/IR/InlayDialect.h.inc"

#include "inlay/Dialect/Inlay/IR/InlayAttrInterfaces.h.inc"
#include "inlay/Dialect/Inlay/IR/InlayOpInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayAttrs.h.inc"

namespace inlay {
struct FrameworkState;
} // namespace inlay

MLIR_DECLARE_EXPLICIT_TYPE_ID(inlay::FrameworkState)

namespace inlay {
/// The state besides tensors that framework calls change: random numbers, printed text, and the order of failing
/// checks.
struct FrameworkState : mlir::SideEffects::Resource::Base<FrameworkState> {
  llvm::StringRef getName() final { return "FrameworkState"; }
};
} // namespace inlay

#define GET_OP_CLASSES
#include "inlay/Dialect/Inlay/IR/InlayOps.h.inc"

#endif // INLAY_DIALECT_INLAY_IR_INLAY_H
