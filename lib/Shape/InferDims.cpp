// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infers dims as expressions, with one rule per kind of op. This is the symbolic counterpart of the type inference in
// lib/Dialect/Inlay/IR.

#include "ShapeAnalysis.h"
#include "inlay/Dialect/Inlay/IR/Inference.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace inlay;

namespace {
using Dims = SmallVector<AffineExpr>;

/// Infers the dims of the single result of one op.
class Inference {
public:
  Inference(Operation *op, ArrayRef<SymbolicDims> operands, ArrayRef<SymbolAttr> symbols,
            SmallVectorImpl<SizeConstraint> &constraints)
      : op(op), operands(operands), symbols(symbols), constraints(constraints), context(op->getContext()) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    isStatic = type && type.hasStaticShape();
  }

  SymbolicDims run();
  /// Returns true if `run` had a rule for the op and the dims of all operands. Then the op can't run if the rule gave
  /// no dims.
  bool hasRule() const { return isKnownOp; }

private:
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, context); }
  AffineExpr simplify(AffineExpr expr) { return simplifyExpr(expr, symbols.size()); }
  /// Requires two sizes to be equal at each call. Returns false if they never are.
  bool require(AffineExpr lhs, AffineExpr rhs);
  bool require(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs);
  /// Requires `lhs` to be at most `rhs`. Returns false if it never is.
  bool requireAtMost(AffineExpr lhs, AffineExpr rhs);
  /// Returns true if `lhs` is at most `rhs` at each call. Requires it if the result is static.
  bool ensureAtMost(AffineExpr lhs, AffineExpr rhs) {
    return isStatic ? requireAtMost(lhs, rhs) : isAtMost(lhs, rhs, symbols);
  }
  bool broadcastInto(Dims &result, ArrayRef<AffineExpr> dims);
  SymbolicDims broadcastAll(ArrayRef<SymbolicDims> all);

  SymbolicDims reduce(ArrayRef<int64_t> dims, bool keepdim, bool needsElements = false);
  SymbolicDims inferProduct();
  SymbolicDims inferLayerNorm();
  SymbolicDims inferChannelNorm();
  SymbolicDims inferAttention();
  SymbolicDims inferConvolution(ConvOp conv);
  SymbolicDims inferTransposed(ConvTransposeOp conv);
  template <typename Op>
  SymbolicDims inferPool(Op pool, ArrayRef<int64_t> dilation);
  /// Returns the number of windows, or null if a window may not fit.
  AffineExpr countWindows(AffineExpr size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                          bool ceilMode);
  SymbolicDims inferReshape(ReshapeOp reshape);
  SymbolicDims inferExpand(ExpandOp expand);
  SymbolicDims inferSlice(SliceOp slice);
  /// Returns the element at which a bound of a slice lies. Requires it to lie in the dim if the result is static, else
  /// returns null if it may be outside.
  AffineExpr locate(int64_t bound, AffineExpr size, AffineMap sizes, unsigned &next);
  SymbolicDims inferCat(CatOp cat);
  SymbolicDims inferPad(PadOp pad);
  SymbolicDims inferIndex(IndexOp index);
  SymbolicDims inferSelect(IndexSelectOp select);
  SymbolicDims inferGather(GatherOp gather);

  Operation *op;
  ArrayRef<SymbolicDims> operands;
  ArrayRef<SymbolAttr> symbols;
  SmallVectorImpl<SizeConstraint> &constraints;
  MLIRContext *context;
  bool isStatic = false; ///< True if the type of the result is static: inference may require sizes to fit it.
  bool isKnownOp = true;
};
} // namespace

/// Adds a constraint that two sizes are equal, unless they are known to be. Returns false if they never are.
static bool requireEqual(AffineExpr lhs, AffineExpr rhs, ArrayRef<SymbolAttr> symbols,
                         SmallVectorImpl<SizeConstraint> &constraints) {
  if (lhs == rhs)
    return true;
  AffineExpr difference = simplifyExpr(lhs - rhs, symbols.size());
  if (difference == 0)
    return true;
  ExprRange range = getRange(difference, symbols);
  if (range.min > 0 || range.max < 0)
    return false;
  constraints.push_back({difference, /*isEquality=*/true});
  return true;
}

bool Inference::require(AffineExpr lhs, AffineExpr rhs) { return requireEqual(lhs, rhs, symbols, constraints); }

bool Inference::require(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs) {
  return lhs.size() == rhs.size() && llvm::all_of(llvm::zip_equal(lhs, rhs), [&](auto pair) {
           return require(std::get<0>(pair), std::get<1>(pair));
         });
}

bool Inference::requireAtMost(AffineExpr lhs, AffineExpr rhs) {
  if (isAtMost(lhs, rhs, symbols))
    return true;
  AffineExpr difference = simplify(rhs - lhs);
  if (getRange(difference, symbols).max < 0)
    return false;
  constraints.push_back({difference, /*isEquality=*/false});
  return true;
}

//===-- Broadcasting --------------------------------------------------------------------------------------------===//

/// Broadcasts `dims` into `result`. If a size may be 1 at a call, it is unknown whether the op broadcasts it, so the
/// sizes must be known to be compatible, unless the result has the other size in any case.
bool Inference::broadcastInto(Dims &result, ArrayRef<AffineExpr> dims) {
  Dims broadcast = result;
  if (broadcastDims(broadcast, dims, symbols.size())) {
    result = std::move(broadcast);
    return true;
  }
  if (!isStatic)
    return false;
  if (result.size() < dims.size())
    result.insert(result.begin(), dims.size() - result.size(), constant(1));
  for (auto [known, other] : llvm::zip_equal(MutableArrayRef(result).take_back(dims.size()), dims)) {
    AffineExpr wide = broadcastDim(known, other, symbols.size());
    if (!wide && !require(known, other))
      return false;
    if (wide || isa<AffineConstantExpr>(other))
      known = wide ? wide : other;
  }
  return true;
}

SymbolicDims Inference::broadcastAll(ArrayRef<SymbolicDims> all) {
  Dims result;
  for (const SymbolicDims &dims : all)
    if (!dims || !broadcastInto(result, *dims))
      return std::nullopt;
  return result;
}

//===-- Reductions, products ------------------------------------------------------------------------------------===//

SymbolicDims Inference::reduce(ArrayRef<int64_t> dims, bool keepdim, bool needsElements) {
  int64_t rank = operands[0]->size();
  Dims result;
  for (auto [dim, size] : llvm::enumerate(*operands[0])) {
    bool reduced = llvm::any_of(
        dims, [&, dim = dim](int64_t other) { return normalizeDim(other, rank) == static_cast<int64_t>(dim); });
    if (reduced && needsElements && !requireAtMost(constant(1), size))
      return std::nullopt;
    if (!reduced || keepdim)
      result.push_back(reduced ? constant(1) : size);
  }
  return result;
}

SymbolicDims Inference::inferProduct() {
  ArrayRef<AffineExpr> lhs = *operands[0], rhs = *operands[1];
  if (!require(lhs.back(), rhs[rhs.size() - 2]))
    return std::nullopt;
  Dims result;
  if (!broadcastInto(result, lhs.drop_back(2)) || !broadcastInto(result, rhs.drop_back(2)))
    return std::nullopt;
  result.append({lhs[lhs.size() - 2], rhs.back()});
  return result;
}

/// The weight and the bias have the last dims of the input.
SymbolicDims Inference::inferLayerNorm() {
  for (const SymbolicDims &parameter : operands.drop_front())
    if (!require(*parameter, ArrayRef(*operands[0]).take_back(parameter->size())))
      return std::nullopt;
  return operands[0];
}

/// The parameters have an element for each channel, which is dim 1 of the input.
SymbolicDims Inference::inferChannelNorm() {
  AffineExpr channels = (*operands[0])[1];
  for (const SymbolicDims &parameter : operands.drop_front())
    if (!require(parameter->front(), channels))
      return std::nullopt;
  if (auto norm = dyn_cast<GroupNormOp>(op);
      norm && !require(channels % static_cast<int64_t>(norm.getGroups()), constant(0)))
    return std::nullopt;
  return operands[0];
}

SymbolicDims Inference::inferAttention() {
  auto attention = cast<ScaledDotProductAttentionOp>(op);
  ArrayRef<AffineExpr> query = *operands[0], key = *operands[1], value = *operands[2];
  if (!require(key[key.size() - 2], value[value.size() - 2]) || !require(query.back(), key.back()))
    return std::nullopt;
  unsigned shared = attention.getEnableGqa() ? 3 : 2; // Number of trailing dims that do not broadcast.
  Dims result;
  for (ArrayRef<AffineExpr> dims : {query, key, value})
    if (!broadcastInto(result, dims.drop_back(shared)))
      return std::nullopt;
  result.append(query.end() - shared, query.end() - 1);
  if (attention.getEnableGqa()) {
    AffineExpr heads = query[query.size() - 3], shared = key[key.size() - 3];
    if (!require(shared, value[value.size() - 3]) || (heads != shared && !require(heads % shared, constant(0))))
      return std::nullopt;
  }
  Dims scores = result;
  scores.push_back(key[key.size() - 2]);
  ArrayRef<AffineExpr> mask = operands.size() > 3 ? ArrayRef(*operands[3]) : ArrayRef<AffineExpr>();
  for (auto [size, score] : llvm::zip(llvm::reverse(mask), llvm::reverse(scores)))
    if (size != constant(1) && !require(size, score))
      return std::nullopt;
  result.push_back(value.back());
  return result;
}

//===-- Windows -------------------------------------------------------------------------------------------------===//

AffineExpr Inference::countWindows(AffineExpr size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                                   bool ceilMode) {
  AffineExpr span = size + (2 * padding - dilation * (kernel - 1) - 1);
  if (!ensureAtMost(constant(0), span))
    return nullptr;
  // In ceil mode, the last window must start inside the input or its left padding. This is certain if the stride is at
  // most the extent of the kernel minus the padding, which is at most half the kernel.
  if (ceilMode && stride > dilation * (kernel - 1) + 1 - padding)
    return nullptr;
  return simplify((ceilMode ? span.ceilDiv(stride) : span.floorDiv(stride)) + 1);
}

SymbolicDims Inference::inferConvolution(ConvOp conv) {
  auto weight = cast<RankedTensorType>(conv.getWeight().getType());
  Dims result{(*operands[0])[0], constant(weight.getDimSize(0))};
  if (operands.size() > 2 && !require(operands[2]->front(), result[1]))
    return std::nullopt;
  if (!weight.hasStaticShape() || !require((*operands[0])[1], constant(weight.getDimSize(1) * conv.getGroups())))
    return std::nullopt;
  for (auto [i, size] : llvm::enumerate(ArrayRef(*operands[0]).drop_front(2)))
    result.push_back(countWindows(size, weight.getDimSize(i + 2), conv.getStride()[i], conv.getPadding()[i],
                                  conv.getDilation()[i], /*ceilMode=*/false));
  return llvm::is_contained(result, AffineExpr()) ? SymbolicDims() : result;
}

SymbolicDims Inference::inferTransposed(ConvTransposeOp conv) {
  auto weight = cast<RankedTensorType>(conv.getWeight().getType());
  if (!weight.hasStaticShape() || !require((*operands[0])[1], constant(weight.getDimSize(0))))
    return std::nullopt;
  Dims result{(*operands[0])[0], constant(weight.getDimSize(1) * conv.getGroups())};
  if (operands.size() > 2 && !require(operands[2]->front(), result[1]))
    return std::nullopt;
  for (auto [i, size] : llvm::enumerate(ArrayRef(*operands[0]).drop_front(2))) {
    int64_t added = conv.getDilation()[i] * (weight.getDimSize(i + 2) - 1) + conv.getOutputPadding()[i] + 1 -
                    2 * conv.getPadding()[i];
    result.push_back(simplify((size - 1) * conv.getStride()[i] + added));
    if (!isAtMost(constant(1), result.back(), symbols))
      return std::nullopt;
  }
  return result;
}

template <typename Op>
SymbolicDims Inference::inferPool(Op pool, ArrayRef<int64_t> dilation) {
  Dims result{(*operands[0])[0], (*operands[0])[1]};
  for (auto [i, size] : llvm::enumerate(ArrayRef(*operands[0]).drop_front(2)))
    result.push_back(countWindows(size, pool.getKernel()[i], pool.getStride()[i], pool.getPadding()[i], dilation[i],
                                  pool.getCeilMode()));
  return llvm::is_contained(result, AffineExpr()) ? SymbolicDims() : result;
}

//===-- Layout --------------------------------------------------------------------------------------------------===//

/// Splits a product into a number and its other factors.
static void collectFactors(AffineExpr expr, int64_t &number, SmallVectorImpl<AffineExpr> &factors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    number *= constant.getValue();
  } else if (binary && expr.getKind() == AffineExprKind::Mul) {
    collectFactors(binary.getLHS(), number, factors);
    collectFactors(binary.getRHS(), number, factors);
  } else {
    factors.push_back(expr);
  }
}

/// Returns `dividend / divisor` for products of dims, with common factors canceled.
static AffineExpr divideProducts(ArrayRef<AffineExpr> dividend, ArrayRef<AffineExpr> divisor, MLIRContext *context) {
  int64_t above = 1, below = 1;
  SmallVector<AffineExpr> upper, lower;
  for (AffineExpr dim : dividend)
    collectFactors(dim, above, upper);
  for (AffineExpr dim : divisor)
    collectFactors(dim, below, lower);
  for (AffineExpr &factor : lower)
    if (auto *same = llvm::find(upper, factor); same != upper.end()) {
      upper.erase(same);
      factor = getAffineConstantExpr(1, context);
    }
  if (int64_t common = std::gcd(above, below)) {
    above /= common;
    below /= common;
  }
  AffineExpr result = getAffineConstantExpr(above, context), rest = getAffineConstantExpr(below, context);
  for (AffineExpr factor : upper)
    result = result * factor;
  for (AffineExpr factor : lower)
    rest = rest * factor;
  return result.floorDiv(rest);
}

SymbolicDims Inference::inferReshape(ReshapeOp reshape) {
  Dims result, known;
  unsigned next = 0;
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(reshape.getShape())) {
    if (size == -1)
      open = i;
    else
      known.push_back(ShapedType::isDynamic(size) ? reshape.getSizes()->getResult(next++) : constant(size));
    result.push_back(size == -1 ? AffineExpr() : known.back());
  }
  if (open)
    result[*open] = simplify(divideProducts(*operands[0], known, context));
  auto count = [&](ArrayRef<AffineExpr> dims) {
    return llvm::accumulate(dims, constant(1), [](AffineExpr product, AffineExpr dim) { return product * dim; });
  };
  return require(count(*operands[0]), count(result)) ? SymbolicDims(result) : std::nullopt;
}

SymbolicDims Inference::inferExpand(ExpandOp expand) {
  size_t added = expand.getShape().size() - operands[0]->size();
  Dims result;
  unsigned next = 0;
  for (auto [i, size] : llvm::enumerate(expand.getShape())) {
    AffineExpr wanted = size == -1                    ? (*operands[0])[i - added]
                        : ShapedType::isDynamic(size) ? expand.getSizes()->getResult(next++)
                                                      : constant(size);
    AffineExpr given = i < added ? constant(1) : (*operands[0])[i - added];
    AffineExpr broadcast = broadcastDim(given, wanted, symbols.size());
    if (!broadcast && (!isStatic || !require(given, wanted)))
      return std::nullopt;
    result.push_back(broadcast ? broadcast : wanted);
  }
  return result;
}

AffineExpr Inference::locate(int64_t bound, AffineExpr size, AffineMap sizes, unsigned &next) {
  AffineExpr known = locateBound(bound, size, sizes, next, symbols);
  if (known || !isStatic || ShapedType::isDynamic(bound))
    return known;
  AffineExpr place = bound < 0 ? size + bound : constant(bound);
  return requireAtMost(constant(0), place) && requireAtMost(place, size) ? place : AffineExpr();
}

SymbolicDims Inference::inferSlice(SliceOp slice) {
  Dims result = *operands[0];
  AffineExpr &size = result[*normalizeDim(slice.getDim(), result.size())];
  AffineMap sizes = slice.getSizes().value_or(AffineMap());
  unsigned next = 0;
  AffineExpr start = locate(slice.getStart(), size, sizes, next), end = locate(slice.getEnd(), size, sizes, next);
  if (!start || !end || !ensureAtMost(start, end))
    return std::nullopt;
  // Sizes that are rounded down have one form, such as `n floordiv 2`. A larger step could overflow the sum.
  constexpr int64_t kMaxStep = std::numeric_limits<int32_t>::max();
  int64_t step = slice.getStep();
  AffineExpr span = end - start;
  size = simplify(step <= kMaxStep ? (span + (step - 1)).floorDiv(step) : span.ceilDiv(step));
  return result;
}

SymbolicDims Inference::inferCat(CatOp cat) {
  Dims result = *operands[0];
  int64_t dim = *normalizeDim(cat.getDim(), result.size());
  for (const SymbolicDims &other : operands.drop_front()) {
    for (int64_t i = 0, rank = result.size(); i < rank; ++i)
      if (i != dim && !require(result[i], (*other)[i]))
        return std::nullopt;
    result[dim] = simplify(result[dim] + (*other)[dim]);
  }
  return result;
}

SymbolicDims Inference::inferPad(PadOp pad) {
  Dims result = *operands[0];
  unsigned next = 0;
  for (ArrayRef<int64_t> amounts : {pad.getLow(), pad.getHigh()})
    for (auto [size, amount] : llvm::zip_equal(result, amounts)) {
      AffineExpr added = ShapedType::isDynamic(amount) ? pad.getSizes()->getResult(next++) : constant(amount);
      if (!isAtMost(constant(0), added, symbols))
        return std::nullopt;
      size = simplify(size + added);
    }
  return result;
}

//===-- Indices -------------------------------------------------------------------------------------------------===//

SymbolicDims Inference::inferIndex(IndexOp index) {
  SymbolicDims places = broadcastAll(operands.drop_front());
  if (!places)
    return std::nullopt;
  Dims result;
  for (auto [dim, size] : llvm::enumerate(*operands[0]))
    if (!llvm::is_contained(index.getDims(), static_cast<int64_t>(dim)))
      result.push_back(size);
  result.insert(result.begin() + getIndexedPlace(index.getDims()), places->begin(), places->end());
  return result;
}

SymbolicDims Inference::inferSelect(IndexSelectOp select) {
  Dims result = *operands[0];
  result[*normalizeDim(select.getDim(), result.size())] = operands[1]->front();
  return result;
}

SymbolicDims Inference::inferGather(GatherOp gather) {
  int64_t gathered = *normalizeDim(gather.getDim(), operands[0]->size());
  for (auto [dim, size, count] : llvm::enumerate(*operands[0], *operands[1]))
    if (static_cast<int64_t>(dim) != gathered && !requireAtMost(count, size))
      return std::nullopt;
  return operands[1];
}

//===-- Dispatch by op ------------------------------------------------------------------------------------------===//

SymbolicDims Inference::run() {
  isKnownOp = llvm::all_of(operands, [](const SymbolicDims &dims) { return dims.has_value(); });
  if (!isKnownOp)
    return std::nullopt;
  if (isa<PointwiseOpInterface>(op))
    return broadcastAll(operands);
  return llvm::TypeSwitch<Operation *, SymbolicDims>(op)
      .Case<LayerNormOp, RmsNormOp>([&](auto) { return inferLayerNorm(); })
      .Case<BatchNormOp, GroupNormOp>([&](auto) { return inferChannelNorm(); })
      .Case<CastOp, QuantizeOp, SoftmaxOp, FlipOp, CumsumOp, CumprodOp, SliceScatterOp, IndexPutOp, ScatterOp,
            ArgsortOp>([&](auto) { return operands[0]; })
      .Case<AllOp, AnyOp, MeanOp, ProdOp, SumOp>(
          [&](auto reduction) { return reduce(reduction.getDims(), reduction.getKeepdim()); })
      .Case<AmaxOp, AminOp>(
          [&](auto reduction) { return reduce(reduction.getDims(), reduction.getKeepdim(), /*needsElements=*/true); })
      .Case<ArgmaxOp, ArgminOp>([&](auto reduction) {
        return reduce({static_cast<int64_t>(reduction.getDim())}, reduction.getKeepdim(), /*needsElements=*/true);
      })
      .Case<tensor::CastOp>([&](auto) { return operands[0]; })
      .Case<MatmulOp>([&](auto) { return inferProduct(); })
      .Case<LinearOp>([&](auto) -> SymbolicDims {
        Dims result = *operands[0];
        if (!require(result.back(), (*operands[1])[1]))
          return std::nullopt;
        result.back() = (*operands[1])[0];
        if (operands.size() > 2 && !require(operands[2]->front(), result.back()))
          return std::nullopt;
        return result;
      })
      .Case<DequantizeOp>([&](auto dequantize) {
        Dims result = *operands[0];
        result.back() = dequantize.getSize() ? constant(*dequantize.getSize())
                                             : simplify(result.back() * (8 / dequantize.getBits()));
        return result;
      })
      .Case<GroupedMatmulOp>([&](auto) -> SymbolicDims {
        ArrayRef<AffineExpr> input = *operands[0], weight = *operands[1];
        if (!require(input[1], weight[1]) || !require((*operands[2])[0], weight[0]))
          return std::nullopt;
        return Dims{input[0], weight[2]};
      })
      .Case<ScaledDotProductAttentionOp>([&](auto) { return inferAttention(); })
      .Case<ConvOp>([&](auto conv) { return inferConvolution(conv); })
      .Case<ConvTransposeOp>([&](auto conv) { return inferTransposed(conv); })
      .Case<MaxPoolOp>([&](auto pool) { return inferPool(pool, pool.getDilation()); })
      .Case<AvgPoolOp>([&](auto pool) { return inferPool(pool, SmallVector<int64_t>(pool.getKernel().size(), 1)); })
      .Case<ReshapeOp>([&](auto reshape) { return inferReshape(reshape); })
      .Case<PermuteOp>([&](auto permute) {
        int64_t rank = operands[0]->size();
        return llvm::map_to_vector(permute.getDims(),
                                   [&](int64_t dim) { return (*operands[0])[*normalizeDim(dim, rank)]; });
      })
      .Case<ExpandOp>([&](auto expand) { return inferExpand(expand); })
      .Case<SliceOp>([&](auto slice) { return inferSlice(slice); })
      .Case<CatOp>([&](auto cat) { return inferCat(cat); })
      .Case<PadOp>([&](auto pad) { return inferPad(pad); })
      .Case<EmbeddingOp>([&](auto) {
        Dims result = *operands[1];
        result.append(operands[0]->begin() + 1, operands[0]->end());
        return result;
      })
      .Case<IndexSelectOp>([&](auto select) { return inferSelect(select); })
      .Case<GatherOp>([&](auto gather) { return inferGather(gather); })
      .Case<IndexOp>([&](auto index) { return inferIndex(index); })
      .Case<IotaOp>([&](auto iota) { return Dims{iota.getSizes().getResult(0)}; })
      .Default([&](Operation *other) -> SymbolicDims {
        isKnownOp = other->hasTrait<OpTrait::Elementwise>() && !operands.empty();
        return isKnownOp ? operands[0] : std::nullopt;
      });
}

/// Returns the dims of result `number` from the attributes of `op`.
static SymbolicDims readDims(Operation *op, unsigned number) { return getDims(op->getResult(number)); }

SmallVector<SymbolicDims> inlay::inferDims(Operation *op, ArrayRef<SymbolicDims> operands, ArrayRef<SymbolAttr> symbols,
                                           SmallVectorImpl<SizeConstraint> &constraints) {
  SmallVector<SymbolicDims> all;
  bool isOpen = llvm::any_of(operands, [](const SymbolicDims &dims) {
    return !dims || !llvm::all_of(*dims, llvm::IsaPred<AffineConstantExpr>);
  });
  for (auto [number, type] : llvm::enumerate(op->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    SymbolicDims dims;
    bool canRun = true;
    if (tensor && (isOpen || !tensor.hasStaticShape()) && op->getNumResults() == 1) {
      Inference inference(op, operands, symbols, constraints);
      dims = inference.run();
      canRun = dims || !inference.hasRule() || !tensor.hasStaticShape();
    }
    if (tensor && !dims && canRun)
      dims = readDims(op, number);
    if (dims && dims->size() != static_cast<size_t>(tensor.getRank()))
      dims = std::nullopt;
    bool fits = true;
    if (dims)
      for (auto [expr, size] : llvm::zip_equal(*dims, tensor.getShape()))
        if (!ShapedType::isDynamic(size)) {
          AffineExpr known = getAffineConstantExpr(size, op->getContext());
          fits &= requireEqual(expr, known, symbols, constraints);
          expr = known;
        }
    if (!fits)
      dims = std::nullopt;
    all.push_back(std::move(dims));
  }
  return all;
}
