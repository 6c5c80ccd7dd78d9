// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the segments of a function in the order of their numbers. Partition/Form creates segments.

#include "inlay/Dialect/Inlay/IR/Segments.h"

using namespace mlir;
using namespace inlay;

static void collect(Block &block, SmallVector<SegmentOp> &segments) {
  llvm::append_range(segments, block.getOps<SegmentOp>());
  auto collectInside = [&](Operation &op) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        collect(inner, segments);
  };
  for (Operation &op : block) {
    if (auto segment = dyn_cast<SegmentOp>(op))
      llvm::for_each(segment.getBody().front(), collectInside);
    else
      collectInside(op);
  }
}

SmallVector<SegmentOp> inlay::listSegments(Block &block) {
  SmallVector<SegmentOp> segments;
  collect(block, segments);
  return segments;
}
