// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the dialect, for generators.

#ifndef INLAY_DIALECT_INLAY_IR_INLAYOPS_TD
#define INLAY_DIALECT_INLAY_IR_INLAYOPS_TD

include "inlay/Dialect/Inlay/IR/InlayAttentionOps.td"
include "inlay/Dialect/Inlay/IR/InlayGraphOps.td"
include "inlay/Dialect/Inlay/IR/InlayIndexOps.td"
include "inlay/Dialect/Inlay/IR/InlayLayoutOps.td"
include "inlay/Dialect/Inlay/IR/InlayPointwiseOps.td"
include "inlay/Dialect/Inlay/IR/InlayReductionOps.td"
include "inlay/Dialect/Inlay/IR/InlaySegmentOps.td"
include "inlay/Dialect/Inlay/IR/InlayShapeOps.td"

#endif // INLAY_DIALECT_INLAY_IR_INLAYOPS_TD
