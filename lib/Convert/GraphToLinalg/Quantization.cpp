// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts dequantization to one parallel generic that unpacks a code and reads the scale of its block. On the host, a
// product with dequantized weights is a library call instead: Target/Host/LibraryCalls/QuantizedProducts.cpp.

#include "Indexing.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace inlay;

namespace {
/// Emits the body of the generic for one op.
class Dequantizer {
public:
  Dequantizer(OpBuilder &builder, Location loc, DequantizeOp op, ArrayRef<Value> loops)
      : builder(builder), loc(loc), op(op), loops(loops) {}

  Value emit() {
    Value code = readCode(), scale = toFloat(readOfBlock(op.getScales()));
    Value number = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), code);
    Value offset = op.getOffsets() ? toFloat(readOfBlock(op.getOffsets())) : Value();
    if (offset && !op.getMinima())
      number = arith::SubFOp::create(builder, loc, number, offset);
    Value product = arith::MulFOp::create(builder, loc, number, scale);
    if (op.getMinima())
      product = arith::AddFOp::create(builder, loc, product, offset);
    return castScalar(builder, loc, product, op.getDtype());
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }

  /// Returns the code at the loop indices as an i32.
  Value readCode() {
    int64_t bits = op.getBits(), perByte = 8 / bits;
    SmallVector<Value> at(loops);
    Value last = at.back();
    if (perByte > 1)
      at.back() = arith::DivUIOp::create(builder, loc, last, index(perByte));
    Value byte = tensor::ExtractOp::create(builder, loc, op.getCodes(), at);
    Value word = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), byte);
    if (perByte == 1)
      return op.isSigned() ? word : arith::AndIOp::create(builder, loc, word, constant(255)).getResult();
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

  /// Returns the element of `values` for the block that has the loop indices.
  Value readOfBlock(Value values) {
    SmallVector<Value> at;
    for (auto [dim, length] : llvm::enumerate(op.getBlock())) {
      if (length == -1 || tensorType(values).getDimSize(dim) == 1)
        at.push_back(index(0));
      else
        at.push_back(length == 1 ? loops[dim]
                                 : arith::DivUIOp::create(builder, loc, loops[dim], index(length)).getResult());
    }
    return tensor::ExtractOp::create(builder, loc, values, at);
  }

  /// Returns a scale or an offset as an f32.
  Value toFloat(Value value) {
    Type type = builder.getF32Type();
    if (!value.getType().isInteger(8))
      return castScalar(builder, loc, value, type);
    Value word = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), value);
    if (!op.isSigned())
      word = arith::AndIOp::create(builder, loc, word, constant(255));
    return arith::SIToFPOp::create(builder, loc, type, word);
  }

  OpBuilder &builder;
  Location loc;
  DequantizeOp op;
  ArrayRef<Value> loops;
};

} // namespace

/// Returns true if the scales and offsets are known to have an element for each block. Their numbers are not checked at
/// a call.
static bool hasKnownBlocks(DequantizeOp op) {
  std::optional<SmallVector<AffineExpr>> codes = getDims(op.getCodes());
  unsigned symbols = getSymbols(op).size();
  auto isKnown = [&](Value values) {
    RankedTensorType type = tensorType(values);
    std::optional<SmallVector<AffineExpr>> dims = getDims(values);
    for (auto [dim, length] : llvm::enumerate(op.getBlock())) {
      if (!type.isDynamicDim(dim) && (type.getDimSize(dim) == 1 || !tensorType(op.getCodes()).isDynamicDim(dim)))
        continue;
      bool isPacked = op.getBits() < 8 && dim + 1 == op.getBlock().size();
      if (length != 1 || isPacked || !dims || !codes || !isEqual((*dims)[dim], (*codes)[dim], symbols))
        return false;
    }
    return true;
  };
  return codes && isKnown(op.getScales()) && (!op.getOffsets() || isKnown(op.getOffsets()));
}

namespace {
struct ConvertDequantize : GraphToLinalgPattern<DequantizeOp> {
  using GraphToLinalgPattern::GraphToLinalgPattern;

  FailureOr<Value> convert(DequantizeOp op, PatternRewriter &rewriter) const override {
    if (!hasKnownBlocks(op))
      return refuseOp(rewriter, op, ReasonCode::UnsupportedShape,
                      "expected scales and offsets with static dims, or with the dims of the codes");
    FailureOr<Sizes> sizes = getResultSizes(rewriter, op);
    if (failed(sizes))
      return failure();
    return createPointwise(rewriter, op.getLoc(), {}, {}, *sizes, op.getDtype(),
                           [&](OpBuilder &nested, Location loc, ValueRange) {
                             SmallVector<Value> loops = loopIndices(nested, loc, sizes->size());
                             return Dequantizer(nested, loc, op, loops).emit();
                           });
  }
};
} // namespace

void inlay::populateQuantizationPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertDequantize>(patterns.getContext());
}
