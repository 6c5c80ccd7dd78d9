// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan dialect: engines and the stitched program.

#ifndef INLAY_DIALECT_PLAN_IR_PLAN_H
#define INLAY_DIALECT_PLAN_IR_PLAN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "inlay/Dialect/Plan/IR/PlanDialect.h.inc"
#include "inlay/Dialect/Plan/IR/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "inlay/Dialect/Plan/IR/PlanTypes.h.inc"

#define GET_OP_CLASSES
#include "inlay/Dialect/Plan/IR/PlanOps.h.inc"

namespace inlay::plan {

/// On `plan.invoke` and the steps created from it: the number of the segment in the partition report.
inline constexpr llvm::StringLiteral kSegmentNumberAttr = "plan.segment";

/// On the module: the names of the processors for which host code is compiled. Without it, the compiling processor.
inline constexpr llvm::StringLiteral kHostCpusAttr = "plan.host_cpus";

} // namespace inlay::plan

#endif // INLAY_DIALECT_PLAN_IR_PLAN_H
