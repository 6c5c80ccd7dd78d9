// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts quantization and dequantization to one parallel generic that reads the scale of the block of an element.
// Products of dequantized codes read the codes instead: on the host in library calls (QuantizedProducts.cpp and
// IntegerProducts.cpp in Target/Host/LibraryCalls), on Vulkan in the kernel of the product
// (Target/Vulkan/Products/PackedOperand.cpp).

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace inlay;

namespace {
/// Emits the body of the generic for one op.
template <typename Op>
class BlockReader {
public:
  BlockReader(OpBuilder &builder, Location loc, Op op, ArrayRef<Value> loops)
      : builder(builder), loc(loc), op(op), loops(loops) {}

protected:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }

  /// Returns the integer in a byte as an i32.
  Value widen(Value byte) {
    Value word = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), byte);
    return op.isSigned() ? word : arith::AndIOp::create(builder, loc, word, constant(255)).getResult();
  }

  /// Returns the scale at the loop indices as an f32.
  Value readScale() { return readOfBlock(op.getScales()); }

  /// Returns the offset at the loop indices as an f32; null if there are no offsets.
  Value readOffset() { return op.getOffsets() ? readOfBlock(op.getOffsets()) : Value(); }

private:
  /// Returns the element of `values` for the block that has the loop indices, as an f32.
  Value readOfBlock(Value values) {
    SmallVector<Value> at;
    for (auto [dim, length] : llvm::enumerate(op.getBlock())) {
      if (length == -1 || tensorType(values).getDimSize(dim) == 1)
        at.push_back(index(0));
      else
        at.push_back(length == 1 ? loops[dim]
                                 : arith::DivUIOp::create(builder, loc, loops[dim], index(length)).getResult());
    }
    Value value = tensor::ExtractOp::create(builder, loc, values, at);
    Type type = builder.getF32Type();
    return value.getType().isInteger(8) ? arith::SIToFPOp::create(builder, loc, type, widen(value)).getResult()
                                        : castScalar(builder, loc, value, type);
  }

protected:
  OpBuilder &builder;
  Location loc;
  Op op;
  ArrayRef<Value> loops;
};

class Dequantizer : public BlockReader<DequantizeOp> {
public:
  using BlockReader::BlockReader;

  /// byte: the code if it is an operand, or null.
  Value emit(Value byte) {
    Value code = byte ? widen(byte) : readCode(), scale = readScale();
    Value number = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), code);
    Value offset = readOffset();
    if (offset && !op.getMinima())
      number = arith::SubFOp::create(builder, loc, number, offset);
    Value product = arith::MulFOp::create(builder, loc, number, scale);
    if (op.getMinima())
      product = arith::AddFOp::create(builder, loc, product, offset);
    return castScalar(builder, loc, product, op.getDtype());
  }

private:
  /// Returns the code at the loop indices as an i32.
  Value readCode() {
    int64_t bits = op.getBits(), perByte = 8 / bits;
    SmallVector<Value> at(loops);
    Value last = at.back();
    if (perByte == 1)
      return widen(tensor::ExtractOp::create(builder, loc, op.getCodes(), at));
    at.back() = arith::DivUIOp::create(builder, loc, last, index(perByte));
    Value byte = tensor::ExtractOp::create(builder, loc, op.getCodes(), at);
    Value word = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), byte);
    // Shifts the code to the highest bits, and then back with or without the sign.
    Value place = arith::RemUIOp::create(builder, loc, last, index(perByte));
    place = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), place);
    Value above = arith::SubIOp::create(builder, loc, constant(32 - bits),
                                        arith::MulIOp::create(builder, loc, place, constant(bits)));
    word = arith::ShLIOp::create(builder, loc, word, above);
    Value down = constant(32 - bits);
    return op.isSigned() ? arith::ShRSIOp::create(builder, loc, word, down).getResult()
                         : arith::ShRUIOp::create(builder, loc, word, down).getResult();
  }
};

class Quantizer : public BlockReader<QuantizeOp> {
public:
  using BlockReader::BlockReader;

  Value emit(Value number) {
    number = castScalar(builder, loc, number, builder.getF32Type());
    Value scale = readScale();
    Value level = op.getInverse() ? arith::MulFOp::create(builder, loc, number, scale).getResult()
                                  : arith::DivFOp::create(builder, loc, number, scale).getResult();
    level = math::RoundEvenOp::create(builder, loc, level);
    if (Value offset = readOffset())
      level = arith::AddFOp::create(builder, loc, level, offset);
    // A comparison with a NaN is false, which selects the lower limit.
    level = limit(arith::CmpFPredicate::OGT, level, op.getLow());
    level = limit(arith::CmpFPredicate::OLT, level, op.getHigh());
    Value word = arith::FPToSIOp::create(builder, loc, builder.getI32Type(), level);
    return arith::TruncIOp::create(builder, loc, builder.getI8Type(), word);
  }

private:
  /// Returns `level` if it compares to `bound` like this, and `bound` otherwise.
  Value limit(arith::CmpFPredicate predicate, Value level, int64_t bound) {
    Value number = scalarConstant(builder, loc, builder.getF32Type(), static_cast<double>(bound));
    Value isInside = arith::CmpFOp::create(builder, loc, predicate, level, number);
    return arith::SelectOp::create(builder, loc, isInside, level, number);
  }
};
} // namespace

/// Returns true if `values`, which may be null, is known to have an element for each block of `elements`. The number is
/// not checked at a call. isPacked: several elements of the last dim share a byte.
static bool hasElementPerBlock(Value values, Value elements, ArrayRef<int64_t> block, bool isPacked) {
  if (!values)
    return true;
  RankedTensorType type = tensorType(values), of = tensorType(elements);
  std::optional<SmallVector<AffineExpr>> dims = getDims(values), ofDims = getDims(elements);
  unsigned symbols = getSymbols(elements.getParentRegion()->getParentOp()).size();
  for (auto [dim, length] : llvm::enumerate(block)) {
    if (!type.isDynamicDim(dim) && (type.getDimSize(dim) == 1 || !of.isDynamicDim(dim)))
      continue;
    if (length != 1 || (isPacked && dim + 1 == block.size()) || !dims || !ofDims ||
        !areEqual((*dims)[dim], (*ofDims)[dim], symbols))
      return false;
  }
  return true;
}

/// Refuses an op whose numbers of blocks are not known.
template <typename Op>
static LogicalResult checkBlocks(PatternRewriter &rewriter, Op op, Value elements, bool isPacked) {
  if (hasElementPerBlock(op.getScales(), elements, op.getBlock(), isPacked) &&
      hasElementPerBlock(op.getOffsets(), elements, op.getBlock(), isPacked))
    return success();
  return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                  "expected scales and offsets with static dims, or with the dims of the elements");
}

/// Returns what kernels that read the codes themselves must know.
static DictionaryAttr describe(DequantizeOp op, Builder &builder) {
  SmallVector<int64_t> block;
  for (auto [length, size] : llvm::zip_equal(op.getBlock(), tensorType(op.getResult()).getShape()))
    block.push_back(length == -1 ? size : length);
  NamedAttrList attributes;
  attributes.set("code", op.getCodeAttr());
  attributes.set("block", builder.getDenseI64ArrayAttr(block));
  if (op.getMinima())
    attributes.set("minima", builder.getUnitAttr());
  return attributes.getDictionary(op.getContext());
}

namespace {
struct ConvertDequantize : GraphToLinalgPattern<DequantizeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(DequantizeOp op, PatternRewriter &rewriter) const override {
    if (failed(checkBlocks(rewriter, op, op.getCodes(), /*isPacked=*/op.getBits() < 8)))
      return failure();
    FailureOr<Sizes> sizes = getResultSizes(rewriter, op);
    if (failed(sizes))
      return failure();
    // Codes that another op computes are an operand and not read in the body, so that the ops fuse. Products look for
    // weights whose codes are read in the body.
    bool isComputed = op.getBits() == 8 && op.getCodes().getDefiningOp() && !matchPattern(op.getCodes(), m_Constant());
    Value result = createPointwise(rewriter, op.getLoc(), isComputed ? ValueRange(op.getCodes()) : ValueRange(),
                                   SmallVector<AffineMap>(isComputed, rewriter.getMultiDimIdentityMap(sizes->size())),
                                   *sizes, op.getDtype(), [&](OpBuilder &nested, Location loc, ValueRange args) {
                                     SmallVector<Value> loops = loopIndices(nested, loc, sizes->size());
                                     return Dequantizer(nested, loc, op, loops).emit(isComputed ? args[0] : Value());
                                   });
    if (auto generic = result.getDefiningOp<linalg::GenericOp>(); generic && !isComputed)
      generic->setAttr(plan::kDequantizeAttr, describe(op, rewriter));
    return result;
  }
};

struct ConvertQuantize : GraphToLinalgPattern<QuantizeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(QuantizeOp op, PatternRewriter &rewriter) const override {
    if (failed(checkBlocks(rewriter, op, op.getInput(), /*isPacked=*/false)))
      return failure();
    FailureOr<Sizes> sizes = getResultSizes(rewriter, op);
    if (failed(sizes))
      return failure();
    return createPointwise(rewriter, op.getLoc(), op.getInput(), rewriter.getMultiDimIdentityMap(sizes->size()), *sizes,
                           rewriter.getI8Type(), [&](OpBuilder &nested, Location loc, ValueRange args) {
                             SmallVector<Value> loops = loopIndices(nested, loc, sizes->size());
                             return Quantizer(nested, loc, op, loops).emit(args[0]);
                           });
  }
};
} // namespace

void inlay::populateQuantizationPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertDequantize, ConvertQuantize>(patterns.getContext());
}
