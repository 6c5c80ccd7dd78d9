// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `inlay-convert-form-host-kernels` leaves for those that turn a host function into native code.

#ifndef INLAY_CONVERT_HOSTKERNELS_H
#define INLAY_CONVERT_HOSTKERNELS_H

#include "llvm/ADT/StringRef.h"

namespace inlay {

/// Of a function with kernels: their descriptions, `#plan.host_kernel`, by number.
inline constexpr llvm::StringLiteral kKernelsAttr = "plan.kernels";

/// Of a call: the number of the kernel that it runs. One of loops is called with 0, the number of its iterations, and
/// the buffers; one of the library with its sizes, then each flat buffer and the offset of its first element.
inline constexpr llvm::StringLiteral kKernelAttr = "plan.kernel";

/// Of a call of loops: about how many elements an iteration touches.
inline constexpr llvm::StringLiteral kCostAttr = "plan.cost";

/// Of the function of a kernel of loops, which runs iterations from its first argument up to its second: how many steps
/// of the split loop an iteration is.
inline constexpr llvm::StringLiteral kUnitAttr = "plan.unit";

/// Of a structured op in such a function: the number of the loop that is split.
inline constexpr llvm::StringLiteral kSplitAttr = "plan.split";

/// Of a reduction: the constant that it starts from, instead of what its output holds.
inline constexpr llvm::StringLiteral kInitialAttr = "plan.initial";

} // namespace inlay

#endif // INLAY_CONVERT_HOSTKERNELS_H
