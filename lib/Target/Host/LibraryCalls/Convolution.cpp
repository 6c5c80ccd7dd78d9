// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts convolutions of one or two spatial dims to library calls. The library handles the padding.

#include "LibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace inlay;

/// Absorbs a batch norm that is the only user of the convolution as two post-ops: a scale and a shift per channel.
/// Computing them at each call costs next to nothing.
static void absorbBatchNorm(PatternRewriter &rewriter, LibraryCall &call) {
  Value result = call.getResult();
  auto norm = result.hasOneUse() ? dyn_cast<BatchNormOp>(*result.user_begin()) : BatchNormOp();
  if (!norm || norm.getInput() != result || norm->getBlock() != result.getParentBlock() ||
      !llvm::all_of(norm->getOperands().drop_front(), [](Value value) { return tensorType(value).hasStaticShape(); }))
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(norm);
  Location loc = norm.getLoc();
  Type element = rewriter.getF32Type();
  double eps = norm.getEps().convertToDouble();
  Sizes sizes = getSizes(rewriter, loc, norm.getWeight());
  SmallVector<AffineMap> maps(3, rewriter.getMultiDimIdentityMap(1));
  Value scale = createPointwise(
      rewriter, loc, {norm.getVariance(), norm.getWeight()}, ArrayRef(maps).take_front(2), sizes, element,
      [&](OpBuilder &builder, Location nested, ValueRange args) -> Value {
        Value shifted = arith::AddFOp::create(builder, nested, args[0], scalarConstant(builder, nested, element, eps));
        return arith::MulFOp::create(builder, nested, math::RsqrtOp::create(builder, nested, shifted), args[1]);
      });
  Value shift = createPointwise(rewriter, loc, {norm.getMean(), scale, norm.getBias()}, maps, sizes, element,
                                [](OpBuilder &builder, Location nested, ValueRange args) -> Value {
                                  Value moved = arith::MulFOp::create(builder, nested, args[0], args[1]);
                                  return arith::SubFOp::create(builder, nested, args[2], moved);
                                });
  for (auto [value, kind] :
       {std::pair(scale, plan::PostOpKind::mul_channels), {shift, plan::PostOpKind::add_channels}}) {
    call.inputs.push_back(value);
    call.postOps.push_back(plan::PostOpAttr::get(rewriter.getContext(), kind, {}, {}));
  }
  call.absorbed.push_back(norm);
}

/// Turns a convolution with a single window, which multiplies vectors by the weight, into a contraction. Its loops are
/// the batch, the output channels, the spatial dims, which have one step each, and the input channels, which are
/// summed.
static void addProduct(LibraryCall &call, ConvOp op) {
  MLIRContext *context = op.getContext();
  unsigned rank = tensorType(op.getWeight()).getRank(), loops = rank + 1;
  auto dims = [&](AffineExpr first, AffineExpr second) {
    SmallVector<AffineExpr> exprs{first, second};
    for (unsigned loop = 2; loop < rank; ++loop)
      exprs.push_back(getAffineDimExpr(loop, context));
    return makeMap(context, loops, exprs);
  };
  AffineExpr batch = getAffineDimExpr(0, context), output = getAffineDimExpr(1, context),
             input = getAffineDimExpr(rank, context);
  addInput(call, op.getInput(), dims(batch, input));
  addInput(call, op.getWeight(), dims(output, input));
  if (op.getBias())
    addInput(call, op.getBias(), makeMap(context, loops, output));
  call.resultMap = dropLoops(context, loops, rank);
}

static void addWindow(LibraryCall &call, ConvOp op) {
  llvm::append_range(call.inputs, op->getOperands());
  call.window.push_back(op.getGroups());
  for (auto [i, size] : llvm::enumerate(tensorType(op.getWeight()).getShape().drop_front(2)))
    call.window.append({size, op.getStride()[i], op.getDilation()[i], op.getPadding()[i]});
}

static bool hasOneWindow(ConvOp op) {
  auto isOne = [](int64_t size) { return size == 1; };
  return op.getGroups() == 1 && llvm::all_of(op.getPadding(), [](int64_t size) { return size == 0; }) &&
         llvm::all_of(tensorType(op.getInput()).getShape().drop_front(2), isOne) &&
         llvm::all_of(tensorType(op.getWeight()).getShape().drop_front(2), isOne) &&
         llvm::all_of(inferResultType(op).getShape().drop_front(2), isOne);
}

namespace {
struct FormConvCall : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (failed(checkOperands(rewriter, op)))
      return failure();
    RankedTensorType weight = tensorType(op.getWeight());
    constexpr int64_t kMaxSpatial = 2;
    int64_t spatial = weight.getRank() - 2;
    if (spatial < 1 || spatial > kMaxSpatial)
      return rewriter.notifyMatchFailure(op, "expected a window of one or two dims, but got " + Twine(spatial));
    if (!weight.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "expected a window of static size");
    SmallVector<int64_t> sizes(inferResultType(op).getShape());
    llvm::append_range(sizes, weight.getShape().drop_front());
    if (failed(checkWork(rewriter, op, sizes)))
      return failure();
    bool isProduct = hasOneWindow(op);
    LibraryCall call(isProduct ? plan::HostKernelKind::contraction : plan::HostKernelKind::convolution);
    if (op.getBias())
      call.config.set("bias", rewriter.getUnitAttr());
    call.absorbed.push_back(op);
    if (isProduct) {
      addProduct(call, op);
    } else {
      addWindow(call, op);
      absorbBatchNorm(rewriter, call);
    }
    absorbUsers(call);
    replaceAbsorbed(rewriter, call);
    return success();
  }
};
} // namespace

void inlay::populateLibraryConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<FormConvCall>(patterns.getContext());
}
