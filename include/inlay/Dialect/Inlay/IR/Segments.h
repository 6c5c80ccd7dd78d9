// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the segments of a function.

#ifndef INLAY_DIALECT_INLAY_IR_SEGMENTS_H
#define INLAY_DIALECT_INLAY_IR_SEGMENTS_H

#include "inlay/Dialect/Inlay/IR/Inlay.h"

namespace inlay {

/// Returns the segments of `block` in order, followed by the segments in the regions of its control flow, region by
/// region and recursively. The position in the list for a function's body is the number that reports and plans use for
/// a segment.
llvm::SmallVector<SegmentOp> listSegments(mlir::Block &block);

} // namespace inlay

#endif // INLAY_DIALECT_INLAY_IR_SEGMENTS_H
