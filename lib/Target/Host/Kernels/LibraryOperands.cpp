// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the flat buffers and sizes that a library call passes. LibraryCalls/ forms the calls on tensors, and
// FormHostKernels.cpp turns them into function calls.

#include "LibraryOperands.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace inlay;

namespace {
/// The size of each dim of an operand, and its flat buffer.
struct Operand {
  SmallVector<AffineExpr> dims;
  LinearBuffer flat;
};

/// Lists the sizes of one call.
class Lister {
public:
  Lister(plan::LibraryCallOp op) : op(op), context(op.getContext()) {}

  FailureOr<LibraryOperands> run(OpBuilder &builder) {
    LinearBufferRoots roots;
    for (Value value : op->getOperands()) {
      FailureOr<LinearBuffer> flat = flattenBuffer(builder, op.getLoc(), value, roots);
      std::optional<SmallVector<AffineExpr>> dims = getBufferDims(value);
      if (failed(flat) || !dims)
        return op.emitError("unsupported-shape: expected buffers whose layout follows from the sizes of inputs, but "
                            "got ")
               << value.getType();
      operands.push_back({*dims, *flat});
      found.buffers.push_back(*flat);
    }
    if (failed(listSizes()))
      return failure();
    return std::move(found);
  }

private:
  /// Returns the number of a type in the enum QuantizedElement of the runtime's plan.
  static int64_t numberOf(Type type) { return type.isF32() ? 0 : type.isF16() ? 1 : type.isBF16() ? 2 : 3; }

  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, context); }
  void add(AffineExpr size) { found.sizes.push_back(size); }
  void add(int64_t size) { add(constant(size)); }

  LogicalResult listSizes() {
    switch (op.getKind()) {
    case plan::HostKernelKind::contraction:
      return listContraction();
    case plan::HostKernelKind::convolution:
      return listConvolution();
    case plan::HostKernelKind::attention:
      return listAttention();
    case plan::HostKernelKind::quantized_product:
      return listQuantizedProduct();
    case plan::HostKernelKind::integer_product:
      return listIntegerProduct();
    case plan::HostKernelKind::loops:
      break;
    }
    return op.emitError("expected a kernel of the library");
  }

  LogicalResult listQuantizedProduct() {
    DictionaryAttr config = op.getConfigAttr();
    ArrayRef<int64_t> block = config.getAs<DenseI64ArrayAttr>("block").asArrayRef();
    ArrayRef<AffineExpr> input = operands[0].dims;
    bool isTransposed = config.contains("transposed"), hasOffsets = config.contains("offsets");
    auto addCode = [&](StringAttr code) {
      add(code ? code.getValue().back() - '0' : 0);
      add(code && code.getValue().front() == 'i');
    };
    AffineExpr rows = constant(1);
    for (AffineExpr dim : input.drop_back())
      rows = rows * dim;
    add(rows);
    add(operands.back().dims.back());
    add(input.back());
    add(isTransposed);
    add(hasOffsets);
    add(config.contains("minima"));
    auto type = config.getAs<TypeAttr>("type");
    add(type ? numberOf(type.getValue()) : 0);
    addCode(config.getAs<StringAttr>("code"));
    add(block[isTransposed]);
    add(block[!isTransposed]);
    SmallVector<int64_t> elements;
    unsigned operand = 2;
    for (StringRef list : {"scale", "offset"}) {
      auto code = config.getAs<StringAttr>((list + "_code").str());
      auto blocks = config.getAs<DenseI64ArrayAttr>((list + "_block").str());
      addCode(code);
      for (unsigned dim = 0; dim < 2; ++dim)
        add(code ? blocks[dim] : 1);
      if (list == "offset" && !hasOffsets) {
        elements.push_back(0);
        continue;
      }
      operand += code ? 2 : 1;
      elements.push_back(numberOf(cast<ShapedType>(op->getOperand(operand - 1).getType()).getElementType()));
    }
    for (int64_t element : elements)
      add(element);
    return success();
  }

  /// Lists IntegerSizes of the runtime's plan and the window.
  LogicalResult listIntegerProduct() {
    DictionaryAttr config = op.getConfigAttr();
    unsigned next = 0; // Number of the next operand.
    ArrayRef<AffineExpr> input = operands[next].dims, output = operands.back().dims;
    auto isSigned = [&](StringRef name) {
      auto code = config.getAs<StringAttr>(name);
      return code && code.getValue().front() == 'i';
    };
    // The numbers of the enum IntegerOffsets.
    auto takeOffsets = [&](StringRef name) {
      if (!config.contains(name))
        return 0;
      return cast<ShapedType>(op->getOperand(next++).getType()).getElementType().isF32() ? 1 : 2;
    };
    next += 2;
    int64_t inputOffsets = takeOffsets("input_offsets");
    ArrayRef<AffineExpr> weight = operands[next].dims;
    next += 2;
    int64_t weightOffsets = takeOffsets("weight_offsets");
    ArrayRef<int64_t> window = op.getWindow().value_or(ArrayRef<int64_t>());
    if (window.empty()) {
      AffineExpr rows = constant(1);
      for (AffineExpr dim : input.drop_back())
        rows = rows * dim;
      for (AffineExpr size : {rows, constant(1), input.back(), output.back(), constant(0)})
        add(size);
    } else {
      for (AffineExpr size :
           {output[0], constant(window[0]), weight[1], weight[0].floorDiv(window[0]), constant(input.size() - 2)})
        add(size);
    }
    bool isQuantized = config.contains("result_code");
    next = op.getInputs().size() - config.contains("result_offsets");
    int64_t resultOffsets = takeOffsets("result_offsets");
    auto limits = config.getAs<DenseI64ArrayAttr>("limits");
    Type result = cast<ShapedType>(op.getInit().getType()).getElementType();
    for (int64_t number : {int64_t(isSigned("input_code")), int64_t(isSigned("weight_code")),
                           int64_t(config.contains("transposed")), int64_t(config.contains("input_scales")),
                           int64_t(config.contains("weight_scales")), inputOffsets, weightOffsets,
                           int64_t(result.isF32()   ? 0
                                   : result.isF64() ? 1
                                                    : 2),
                           int64_t(isSigned("result_code")), resultOffsets, isQuantized ? limits[0] : 0,
                           isQuantized ? limits[1] : 0, int64_t(config.contains("inverse"))})
      add(number);
    for (unsigned i = 0; i + 2 < input.size() && !window.empty(); ++i) {
      add(input[2 + i]);
      add(output[2 + i]);
      for (int64_t number : window.slice(1 + 4 * i, 4))
        add(number);
    }
    return success();
  }

  LogicalResult listContraction() {
    SmallVector<AffineMap> maps(op.getMapsAttr().getAsValueRange<AffineMapAttr>());
    for (unsigned loop = 0; loop < maps.front().getNumDims(); ++loop) {
      AffineExpr size, expr = getAffineDimExpr(loop, context);
      SmallVector<AffineExpr> strides;
      for (auto [operand, map] : llvm::zip_equal(operands, maps)) {
        AffineExpr sum = constant(0);
        for (auto [result, dim, stride] : llvm::zip_equal(map.getResults(), operand.dims, operand.flat.strides))
          if (result == expr) {
            size = size ? size : dim;
            sum = sum + stride;
          }
        strides.push_back(sum);
      }
      if (!size)
        return op.emitError("expected each loop to index a dim of an operand, but loop ") << loop << " indexes none";
      add(size);
      found.sizes.append(strides);
    }
    return success();
  }

  LogicalResult listConvolution() {
    ArrayRef<int64_t> window = *op.getWindow();
    ArrayRef<AffineExpr> input = operands[0].dims, weight = operands[1].dims, output = operands.back().dims;
    unsigned spatial = input.size() - 2;
    unsigned first = op.getConfigAttr() && op.getConfigAttr().contains("channels_last") ? 1 : 2;
    add(output[0]);
    add(window[0]);
    add(weight[1]);
    add(weight[0].floorDiv(window[0]));
    add(spatial);
    for (unsigned i = 0; i < spatial; ++i) {
      add(input[first + i]);
      add(output[first + i]);
      for (int64_t number : window.slice(1 + 4 * i, 4))
        add(number);
    }
    return success();
  }

  /// Returns the strides of an operand along the leading dims, where broadcast dims have stride 0, followed by the
  /// strides of its last two dims.
  FailureOr<SmallVector<AffineExpr>> getStrides(const Operand &operand, ArrayRef<AffineExpr> leading) {
    size_t rank = operand.dims.size(), count = rank - std::min<size_t>(rank, 2);
    SmallVector<AffineExpr> strides(leading.size(), constant(0));
    if (count > leading.size())
      return op.emitError("expected at most ") << leading.size() + 2 << " dims, but got " << rank;
    for (size_t i = 0; i < count; ++i)
      if (operand.dims[i] != constant(1))
        strides[leading.size() - count + i] = operand.flat.strides[i];
    for (size_t i = std::min<size_t>(rank, 2); i > 0; --i)
      strides.push_back(operand.dims[rank - i] == constant(1) ? constant(0) : operand.flat.strides[rank - i]);
    while (strides.size() < leading.size() + 2) // A mask may have fewer dims.
      strides.insert(strides.begin() + leading.size(), constant(0));
    return strides;
  }

  /// Merges or adds leading dims until there are two, batch and heads. Two dims merge if one loop can go over both in
  /// each operand.
  LogicalResult joinLeading(SmallVectorImpl<AffineExpr> &leading, MutableArrayRef<SmallVector<AffineExpr>> strides) {
    while (leading.size() < 2) {
      leading.insert(leading.begin(), constant(1));
      for (SmallVector<AffineExpr> &list : strides)
        list.insert(list.begin(), constant(0));
    }
    unsigned symbols = getSymbols(op).size();
    for (size_t pair = 0; leading.size() > 2 && pair + 1 < leading.size();) {
      bool joins = leading[pair] == constant(1) || leading[pair + 1] == constant(1) ||
                   llvm::all_of(strides, [&](ArrayRef<AffineExpr> list) {
                     return areEqual(list[pair], list[pair + 1] * leading[pair + 1], symbols);
                   });
      if (!joins) {
        ++pair;
        continue;
      }
      size_t dropped = leading[pair + 1] == constant(1) ? pair + 1 : pair;
      if (leading[pair] != constant(1) && leading[pair + 1] != constant(1))
        leading[pair + 1] = leading[pair] * leading[pair + 1];
      leading.erase(leading.begin() + dropped);
      for (SmallVector<AffineExpr> &list : strides)
        list.erase(list.begin() + dropped);
    }
    if (leading.size() == 2)
      return success();
    return op.emitError("expected leading dims that two loops can go over, but got ") << leading.size() << " loops";
  }

  LogicalResult listAttention() {
    ArrayRef<AffineExpr> output = operands.back().dims;
    SmallVector<AffineExpr> leading(output.drop_back(2));
    SmallVector<SmallVector<AffineExpr>> strides;
    for (const Operand &operand : operands) {
      FailureOr<SmallVector<AffineExpr>> found = getStrides(operand, leading);
      if (failed(found))
        return failure();
      strides.push_back(std::move(*found));
    }
    if (failed(joinLeading(leading, strides)))
      return failure();
    found.sizes.append(leading);
    for (auto [operand, fromEnd] : {std::pair(0, 2), {1, 2}, {1, 1}, {2, 1}})
      add(operands[operand].dims[operands[operand].dims.size() - fromEnd]);
    for (ArrayRef<AffineExpr> list : strides)
      found.sizes.append(list.begin(), list.end());
    return success();
  }

  plan::LibraryCallOp op;
  MLIRContext *context;
  SmallVector<Operand> operands;
  LibraryOperands found;
};
} // namespace

FailureOr<LibraryOperands> inlay::listLibraryOperands(OpBuilder &builder, plan::LibraryCallOp op) {
  return Lister(op).run(builder);
}

/// Allocates a contiguous buffer with the dims of `memref`.
static FailureOr<Value> allocateLike(OpBuilder &builder, Location loc, Value memref) {
  std::optional<SmallVector<AffineExpr>> dims = getBufferDims(memref);
  if (!dims)
    return failure();
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> sizes;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), *dims))
    if (ShapedType::isDynamic(size))
      sizes.push_back(cast<Value>(materializeExpr(builder, loc, dim)));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  return memref::AllocOp::create(builder, loc, plain, sizes).getResult();
}

LogicalResult inlay::completeLibraryCalls(func::FuncOp func) {
  for (auto op : func.getOps<plan::LibraryCallOp>()) {
    if (!llvm::is_contained({plan::HostKernelKind::convolution, plan::HostKernelKind::quantized_product,
                             plan::HostKernelKind::integer_product},
                            op.getKind()))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      if (cast<MemRefType>(operand.get().getType()).getLayout().isIdentity())
        continue;
      OpBuilder builder(op);
      FailureOr<Value> copy = allocateLike(builder, op.getLoc(), operand.get());
      if (failed(copy))
        return op.emitError("unsupported-shape: expected operands whose dims follow from the dims of inputs, but got ")
               << operand.get().getType();
      bool isResult = op.isDpsInit(&operand);
      if (isResult)
        builder.setInsertionPointAfter(op);
      linalg::CopyOp::create(builder, op.getLoc(), isResult ? *copy : operand.get(), isResult ? operand.get() : *copy);
      operand.set(*copy);
    }
  }
  return success();
}
