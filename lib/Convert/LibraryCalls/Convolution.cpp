// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of one or two spatial dims: their padding is the library's.

#include "../GraphToLinalg/GraphPattern.h"
#include "../GraphToLinalg/Structured.h"
#include "LibraryCalls.h"

using namespace mlir;
using namespace inlay;

namespace {
struct FormConvCall : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (failed(checkOperands(rewriter, op)))
      return failure();
    RankedTensorType weight = tensorType(op.getWeight());
    constexpr int64_t kMostSpatial = 2;
    int64_t spatial = weight.getRank() - 2;
    if (spatial < 1 || spatial > kMostSpatial)
      return rewriter.notifyMatchFailure(op, "the library has windows of one or two dims, not " + Twine(spatial));
    if (!weight.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "a window's size has to be known");
    SmallVector<int64_t> sizes(inferResultType(op).getShape());
    llvm::append_range(sizes, weight.getShape().drop_front());
    if (failed(checkWork(rewriter, op, sizes)))
      return failure();
    LibraryCall call(plan::HostKernelKind::convolution);
    call.inputs = {op.getInput(), op.getWeight()};
    if (op.getBias()) {
      call.inputs.push_back(op.getBias());
      call.config.set("bias", rewriter.getUnitAttr());
    }
    call.window.push_back(op.getGroups());
    for (int64_t i = 0; i < spatial; ++i)
      call.window.append({weight.getDimSize(i + 2), op.getStride()[i], op.getDilation()[i], op.getPadding()[i]});
    call.absorbed.push_back(op);
    absorbUsers(call);
    replaceAbsorbed(rewriter, call);
    return success();
  }
};
} // namespace

void inlay::populateLibraryConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<FormConvCall>(patterns.getContext());
}
