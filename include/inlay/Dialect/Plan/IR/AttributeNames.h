// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the discardable attributes that carry data from one conversion pass to the next, and to Stitch.

#ifndef INLAY_DIALECT_PLAN_IR_ATTRIBUTENAMES_H
#define INLAY_DIALECT_PLAN_IR_ATTRIBUTENAMES_H

#include "mlir/Support/LLVM.h"

namespace inlay::plan {

//===-- Outlined segments ---------------------------------------------------------------------------------------===//

/// On the function of an outlined segment: the segment's target.
inline constexpr llvm::StringLiteral kSegmentAttr = "plan.target";

/// UnitAttr on an argument of an outlined segment whose value is the same in every call: a weight.
inline constexpr llvm::StringLiteral kConstantArgumentAttr = "plan.constant";

/// DenseI64ArrayAttr on an argument of a segment's function and on a `plan.constant`: dim i on the device is dim
/// `order[i]` of the constant.
inline constexpr llvm::StringLiteral kConstantOrderAttr = "plan.order";

/// ArrayAttr on a `plan.engine`: the order of each argument, empty for an argument whose order is unchanged.
inline constexpr llvm::StringLiteral kConstantOrdersAttr = "plan.orders";

/// I64 on a result of a segment's function: the number of the argument that the result replaces in its memory.
/// DenseI64ArrayAttr on a function on buffers: the numbers of all such arguments.
inline constexpr llvm::StringLiteral kUpdatesAttr = "plan.updates";

//===-- Functions on buffers ------------------------------------------------------------------------------------===//

/// On a function on buffers: the number of arguments that belong to the segment. The arguments after them are scratch
/// memory.
inline constexpr llvm::StringLiteral kArgumentsAttr = "plan.arguments";

/// AffineMapAttr on a function whose scratch buffers share an arena: the bytes that they would need without sharing.
inline constexpr llvm::StringLiteral kUnsharedAttr = "plan.unshared_scratch";

//===-- Structured ops ------------------------------------------------------------------------------------------===//

/// DictionaryAttr on the generic of a `dequantize`, which loads a code, then a scale, then an offset if there is one:
/// `code`, the type of a code; `block`, the size of a block in each dim; the unit `minima` if the offset is a minimum.
inline constexpr llvm::StringLiteral kDequantizeAttr = "plan.dequantize";

//===-- Host kernels --------------------------------------------------------------------------------------------===//

/// On a function that calls kernels: the array of their descriptions, `#plan.host_kernel`, by number.
inline constexpr llvm::StringLiteral kKernelsAttr = "plan.kernels";

/// On a call: the number of the kernel that it runs. The operands of a loop kernel are 0, the number of iterations and
/// the buffers. The operands of a library kernel are its sizes, then each flat buffer and the offset of its first
/// element.
inline constexpr llvm::StringLiteral kKernelAttr = "plan.kernel";

/// On a call of a loop kernel: the approximate number of elements that one iteration accesses.
inline constexpr llvm::StringLiteral kCostAttr = "plan.cost";

/// On the function of a loop kernel, which runs the iterations from its first argument up to its second: the number of
/// steps of the split loop in one iteration.
inline constexpr llvm::StringLiteral kUnitAttr = "plan.unit";

/// On a structured op in the function of a loop kernel: the number of the loop that is split.
inline constexpr llvm::StringLiteral kSplitAttr = "plan.split";

/// On a reduction: the constant that it starts from instead of the value of its output.
inline constexpr llvm::StringLiteral kInitialAttr = "plan.initial";

} // namespace inlay::plan

#endif // INLAY_DIALECT_PLAN_IR_ATTRIBUTENAMES_H
