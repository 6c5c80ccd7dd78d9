// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver of the conversion. Patterns never create graph ops, so the driver visits each op once. It needs no
// worklist and no folding, and each refusal belongs to the visited op.

#include "inlay/Convert/GraphToLinalg/GraphToLinalg.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/Passes.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace inlay {
#define GEN_PASS_DEF_CONVERTGRAPHTOLINALGPASS
#include "inlay/Convert/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

//===-- Helpers of the patterns ----------------------------------------------------------------------------------===//

std::string inlay::spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isScalarType(Type type) {
  return type.isSignlessInteger() || isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

LogicalResult inlay::checkTensorTypes(RewriterBase &rewriter, Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || tensor.getEncoding() || !isScalarType(tensor.getElementType()))
        return refuseOp(rewriter, op, ReasonCode::UnsupportedType,
                        "expected plain tensors of f16, bf16, f32, f64 or signless integers, but got " + spell(type));
    }
  return success();
}

LogicalResult inlay::checkElements(RewriterBase &rewriter, Operation *op, Value value, bool integers) {
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<FloatType>(element) || (integers && !element.isInteger(1)))
    return success();
  return refuseOp(rewriter, op, ReasonCode::UnsupportedType,
                  Twine("expected ") + (integers ? "numbers" : "floats") + ", but got " + spell(element));
}

LogicalResult inlay::checkStaticDim(RewriterBase &rewriter, Operation *op, Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim))
    return success();
  return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                  "expected dim " + Twine(dim) + " to be static, but got " + spell(type));
}

std::optional<SmallVector<OpFoldResult>> inlay::findResultSizes(OpBuilder &builder, Operation *op) {
  SmallVector<OpFoldResult> sizes;
  std::optional<SmallVector<AffineExpr>> dims = getDims(op->getResult(0));
  for (auto [dim, size] : llvm::enumerate(inferResultType(op).getShape())) {
    if (ShapedType::isDynamic(size) && !dims)
      return std::nullopt;
    sizes.push_back(ShapedType::isDynamic(size) ? materializeExpr(builder, op->getLoc(), (*dims)[dim])
                                                : OpFoldResult(builder.getIndexAttr(size)));
  }
  return sizes;
}

FailureOr<SmallVector<OpFoldResult>> inlay::getResultSizes(RewriterBase &rewriter, Operation *op) {
  if (auto sizes = findResultSizes(rewriter, op))
    return *sizes;
  return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                  "expected dims that follow from the dims of inputs, but got " + spell(inferResultType(op)));
}

void inlay::replaceWithRefined(RewriterBase &rewriter, Operation *op, Value value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type)
    value = tensor::CastOp::create(rewriter, op->getLoc(), type, value);
  // The conversions of later ops read the dims of their operands.
  if (Operation *producer = value.getDefiningOp(); producer && producer->getNumResults() == 1)
    copyDims(op, producer);
  rewriter.replaceOp(op, value);
}

RankedTensorType inlay::inferResultType(Operation *op) {
  SmallVector<Type> types;
  LogicalResult inferred = cast<InferTypeOpInterface>(op).inferReturnTypes(
      op->getContext(), std::nullopt, op->getOperands(), op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
      op->getRegions(), types);
  // Inference cannot fail: the verifier has inferred the type before.
  return succeeded(inferred) ? cast<RankedTensorType>(types[0]) : cast<RankedTensorType>(op->getResult(0).getType());
}

void inlay::populateGraphToLinalgPatterns(RewritePatternSet &patterns) {
  populateAttentionPatterns(patterns);
  populateConvolutionPatterns(patterns);
  populateIndexingPatterns(patterns);
  populateLayoutPatterns(patterns);
  populateNormalizationPatterns(patterns);
  populatePointwisePatterns(patterns);
  populatePoolingPatterns(patterns);
  populateProductPatterns(patterns);
  populateQuantizationPatterns(patterns);
  populateReductionPatterns(patterns);
  populateScanPatterns(patterns);
  populateScatteringPatterns(patterns);
  populateSizePatterns(patterns);
  populateSortingPatterns(patterns);
}

void inlay::registerGraphToLinalgDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  math::MathDialect, tensor::TensorDialect>();
}

//===-- Driver --------------------------------------------------------------------------------------------------===//

namespace {
/// Stores the message of the last refusal.
struct RefusalListener : RewriterBase::Listener {
  void notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> reason) override {
    Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
    reason(diagnostic);
    message = diagnostic.str();
  }
  std::string message;
};
} // namespace

SmallVector<Refusal> inlay::convertGraphOps(Operation *root) {
  SmallVector<Operation *> graphOps;
  root->walk([&](Operation *op) {
    if (isa<AtenNamedOpInterface, ConstantOp>(op) && !isa<ListOp>(op))
      graphOps.push_back(op);
  });

  RewritePatternSet patterns(root->getContext());
  populateGraphToLinalgPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  RefusalListener listener;
  PatternRewriter rewriter(root->getContext());
  rewriter.setListener(&listener);
  SmallVector<Refusal> refusals;
  for (Operation *op : graphOps) {
    listener.message = ("no-converter: no pattern converts " + getReportedName(op)).str();
    rewriter.setInsertionPoint(op);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      refusals.push_back({op, parseRefusal(listener.message)});
  }
  declareLibraryCalls(root);
  return refusals;
}

void inlay::declareLibraryCalls(Operation *root) {
  root->walk([](func::CallOp call) {
    Operation *table = SymbolTable::getNearestSymbolTable(call);
    if (!table || SymbolTable::lookupSymbolIn(table, call.getCalleeAttr()))
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&table->getRegion(0).front());
    auto declaration = func::FuncOp::create(builder, call.getLoc(), call.getCallee(), call.getCalleeType());
    declaration.setPrivate();
  });
}

namespace {
struct ConvertGraphToLinalgPass : inlay::impl::ConvertGraphToLinalgPassBase<ConvertGraphToLinalgPass> {
  void runOnOperation() override {
    for (const Refusal &refusal : convertGraphOps(getOperation())) {
      refusal.op->emitOpError("can't be converted to linalg: ")
          << stringifyReasonCode(refusal.verdict.code) << ": " << refusal.verdict.text;
      signalPassFailure();
    }
  }
};
} // namespace
