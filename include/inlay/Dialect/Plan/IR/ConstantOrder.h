// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the order in which a device has the dims of a constant travels from the segment that asks for it to the plan.

#ifndef INLAY_DIALECT_PLAN_IR_CONSTANTORDER_H
#define INLAY_DIALECT_PLAN_IR_CONSTANTORDER_H

#include "mlir/Support/LLVM.h"

namespace inlay::plan {

/// Attribute, a DenseI64ArrayAttr, of an argument of a segment's function and of a `plan.constant`: dim i on the device
/// is dim number i of it of the constant.
inline constexpr llvm::StringLiteral kConstantOrderAttr = "plan.order";

/// Attribute of a `plan.engine`: an array of the orders of its arguments, empty where they are as they are.
inline constexpr llvm::StringLiteral kConstantOrdersAttr = "plan.orders";

} // namespace inlay::plan

#endif // INLAY_DIALECT_PLAN_IR_CONSTANTORDER_H
