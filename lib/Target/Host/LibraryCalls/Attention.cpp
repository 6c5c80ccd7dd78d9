// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts attention to a library call over batches and heads. Queries that share a key become the heads of separate
// batches, so that only dims of size 1 broadcast.

#include "LibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
struct FormAttentionCall : OpRewritePattern<ScaledDotProductAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const override;
};
} // namespace

/// Dims of the library's operands: batch, heads, rows, columns.
static constexpr int64_t kRank = 4;

/// Adds leading dims of size 1 until `value` has as many dims as the library expects.
static Value addLeadingDims(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = tensorType(value);
  int64_t added = kRank - type.getRank();
  if (added <= 0)
    return value;
  SmallVector<ReassociationIndices> parts(1);
  SmallVector<int64_t> shape(added, 1);
  Sizes sizes(added, builder.getIndexAttr(1));
  for (int64_t dim = 0; dim < kRank; ++dim) {
    if (dim > added)
      parts.emplace_back();
    parts.back().push_back(dim);
  }
  llvm::append_range(shape, type.getShape());
  llvm::append_range(sizes, getSizes(builder, loc, value));
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, parts, sizes);
}

/// Moves the groups of heads into the batch. A group is one head of keys and the queries that share it. A `value` with
/// one head per group gets one head.
static Value groupHeads(OpBuilder &builder, Location loc, Value value, int64_t groups) {
  RankedTensorType type = tensorType(value);
  if (type.getDimSize(0) == 1 && type.getDimSize(1) == 1) // A mask that all groups share.
    return value;
  return mergeDim(builder, loc, splitDim(builder, loc, value, 1, groups), 0);
}

/// Returns the reason why the op's leading dims cannot become batch and heads, or an empty string if they can.
static StringRef refuseLeading(ScaledDotProductAttentionOp op) {
  for (Value value : op->getOperands())
    if (tensorType(value).getRank() > kRank)
      return "expected at most the dims batch, heads, rows and columns";
  if (!op.getEnableGqa())
    return "";
  for (Value value : {op.getQuery(), op.getKey(), op.getValue()})
    if (RankedTensorType type = tensorType(value); type.getRank() != kRank || type.isDynamicDim(0) ||
                                                   type.isDynamicDim(1) ||
                                                   type.getDimSize(0) != tensorType(op.getQuery()).getDimSize(0))
      return "expected a static batch and static heads where heads share keys";
  if (tensorType(op.getKey()).getDimSize(1) != tensorType(op.getValue()).getDimSize(1))
    return "expected values with as many heads as keys";
  if (!op.getMask() || tensorType(op.getMask()).getRank() < 3)
    return "";
  // A mask per batch, or a mask for all heads of a batch, would not be a mask per group.
  ArrayRef<int64_t> mask = tensorType(op.getMask()).getShape().drop_back(2);
  bool isShared = llvm::all_of(mask, [](int64_t size) { return size == 1; });
  bool isWhole = mask == tensorType(op.getQuery()).getShape().drop_back(2);
  return isShared || isWhole ? "" : "expected one mask for all heads or one per head where heads share keys";
}

LogicalResult FormAttentionCall::matchAndRewrite(ScaledDotProductAttentionOp op, PatternRewriter &rewriter) const {
  if (failed(checkOperands(rewriter, op)))
    return failure();
  for (Value value : {op.getQuery(), op.getKey(), op.getValue()})
    if (!tensorType(value).getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "expected f32, but got " + spell(value.getType()));
  if (StringRef reason = refuseLeading(op); !reason.empty())
    return rewriter.notifyMatchFailure(op, reason);
  SmallVector<int64_t> work(inferResultType(op).getShape());
  work.push_back(tensorType(op.getKey()).getShape().take_back(2).front());
  if (failed(checkWork(rewriter, op, work)))
    return failure();

  Location loc = op.getLoc();
  int64_t groups = op.getEnableGqa() ? tensorType(op.getKey()).getDimSize(1) : 0;
  LibraryCall call(plan::HostKernelKind::attention);
  for (Value operand : op->getOperands()) {
    operand = addLeadingDims(rewriter, loc, operand);
    call.inputs.push_back(groups ? groupHeads(rewriter, loc, operand, groups) : operand);
  }
  if (op.getMask()) {
    bool isSelected = tensorType(op.getMask()).getElementType().isInteger(1);
    call.config.set("mask", rewriter.getStringAttr(isSelected ? "selected" : "added"));
  }
  if (op.getIsCausal())
    call.config.set("causal", rewriter.getUnitAttr());
  call.config.set("scale", op.getScaleAttr());
  Sizes sizes = broadcastSizes(rewriter, loc, ValueRange(call.inputs).take_front(3), /*dropBack=*/2);
  sizes.push_back(getSize(rewriter, loc, call.inputs[0], kRank - 2));
  sizes.push_back(getSize(rewriter, loc, call.inputs[2], kRank - 1));
  Value result = createCall(rewriter, loc, call, tensor::EmptyOp::create(rewriter, loc, sizes, rewriter.getF32Type()));
  if (groups) {
    int64_t batch = tensorType(op.getQuery()).getDimSize(0);
    result = mergeDim(rewriter, loc, splitDim(rewriter, loc, result, 0, batch), 1);
  }
  for (int64_t rank = kRank, end = inferResultType(op).getRank(); rank > end; --rank)
    result = mergeDim(rewriter, loc, result, 0);
  replaceWithRefined(rewriter, op, result);
  return success();
}

void inlay::populateLibraryAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<FormAttentionCall>(patterns.getContext());
}
