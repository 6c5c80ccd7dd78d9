// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segments of a function, by number.

#ifndef INLAY_DIALECT_INLAY_IR_SEGMENTS_H
#define INLAY_DIALECT_INLAY_IR_SEGMENTS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

namespace inlay {

/// The segments of `block` in its order, and after them those in the regions of control flow in it, region by region,
/// each block likewise: a segment's number in a function's list is the one that reports and plans call it by.
llvm::SmallVector<SegmentOp> listSegments(mlir::Block &block);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_SEGMENTS_H
