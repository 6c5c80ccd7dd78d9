// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the FLOP and bytes of an op by its name and types. Support/TargetCosts.cpp converts them to seconds.

#include "inlay/Partition/OpWork.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir;
using namespace inlay;

//===-- Sizes ---------------------------------------------------------------------------------------------------===//

static double assumed(int64_t size) { return static_cast<double>(ShapedType::isDynamic(size) ? kAssumedDim : size); }

static double countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isa<TensorType>(type) ? static_cast<double>(kAssumedDim) : 1;
  double count = 1;
  for (int64_t size : tensor.getShape())
    count *= assumed(size);
  return count;
}

double inlay::estimateBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  double parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  if (!mayCrossBorder(type))
    return 0;
  return parts * static_cast<double>(countBytes(element).value_or(0)) * countElements(type);
}

static double sumBytes(ValueRange values) {
  double sum = 0;
  for (Value value : values)
    sum += estimateBytes(value.getType());
  return sum;
}

/// Returns the bytes that the op reads and writes. An output that the op writes in place is not read.
static double sumBytes(Operation *op) {
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
    double sum = sumBytes(op->getResults());
    for (OpOperand *input : destination.getDpsInputOperands())
      sum += estimateBytes(input->get().getType());
    return sum;
  }
  return sumBytes(op->getOperands()) + sumBytes(op->getResults());
}

//===-- Kinds ---------------------------------------------------------------------------------------------------===//

namespace {
struct NamedKind {
  WorkKind kind = WorkKind::Other;
  bool isFree = false;
};
} // namespace

/// Returns the name of the op without dialect, namespace and overload: `mm` for `aten::mm`, `torch.aten.mm` and
/// `aten.mm.out`.
static StringRef getBareName(Operation *op) {
  StringRef name = getReportedName(op);
  name = name.substr(name.rfind(':') + 1);
  if (name.data() == getReportedName(op).data()) // An op of a dialect, or a dotted name.
    name = name.contains('.') ? name.split('.').second : name;
  name.consume_front("aten.");
  return name.split('.').first;
}

static llvm::StringMap<NamedKind> makeKinds() {
  llvm::StringMap<NamedKind> kinds;
  auto add = [&](NamedKind kind, std::initializer_list<StringRef> names) {
    for (StringRef name : names)
      kinds[name] = kind;
  };
  add({WorkKind::Matmul},
      {"matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "dot", "dot_general", "mv", "addmv", "batch_matmul",
       "matvec", "vecmat", "fully_connected", "grouped_matmul", "_grouped_mm", "scaled_dot_product_attention"});
  add({WorkKind::Convolution}, {"conv", "convolution", "_convolution", "conv1d", "conv2d", "conv3d", "depthwise_conv2d",
                                "transpose_conv2d", "conv_transpose2d", "conv_transpose"});
  add({WorkKind::Reduction},
      {"sum",        "mean",        "amax",           "amin",          "max",        "min",
       "argmax",     "argmin",      "prod",           "var",           "std",        "norm",
       "any",        "all",         "logsumexp",      "reduce",        "cumsum",     "cumprod",
       "sort",       "topk",        "argsort",        "reduce_window", "reduce_sum", "reduce_max",
       "reduce_min", "reduce_prod", "reduce_product", "reduce_any",    "reduce_all"});
  add({WorkKind::Reduction}, {"softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax", "layer_norm",
                              "native_layer_norm", "group_norm", "native_group_norm", "instance_norm", "rms_norm"});
  add({WorkKind::Reduction},
      {"max_pool", "avg_pool", "max_pool1d", "max_pool2d", "max_pool2d_with_indices", "avg_pool1d", "avg_pool2d",
       "adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_max_pool2d"});
  add({WorkKind::Layout}, {"permute", "transpose",     "t",
                           "expand",  "expand_as",     "slice",
                           "cat",     "concat",        "concatenate",
                           "stack",   "split",         "split_with_sizes",
                           "chunk",   "select",        "index_select",
                           "gather",  "embedding",     "index",
                           "narrow",  "pad",           "constant_pad_nd",
                           "tile",    "repeat",        "flip",
                           "reverse", "roll",          "contiguous",
                           "clone",   "broadcast",     "broadcast_in_dim",
                           "unfold",  "extract_slice", "insert_slice",
                           "copy",    "copy_",         "fill",
                           "scatter", "slice_scatter", "index_put"});
  add({WorkKind::Layout, /*isFree=*/true},
      {"reshape",    "reshape_as", "view",        "view_as",       "_unsafe_view",     "squeeze",        "unsqueeze",
       "flatten",    "unflatten",  "alias",       "detach",        "expand_shape",     "collapse_shape", "empty",
       "size",       "dim",        "list",        "ListConstruct", "ListUnpack",       "TupleConstruct", "TupleUnpack",
       "TupleIndex", "getitem",    "__getitem__", "tuple",         "get_tuple_element"});
  add({WorkKind::Elementwise}, {"add",
                                "add_",
                                "sub",
                                "rsub",
                                "mul",
                                "div",
                                "neg",
                                "abs",
                                "exp",
                                "log",
                                "sqrt",
                                "rsqrt",
                                "pow",
                                "convert",
                                "cast",
                                "relu",
                                "relu_",
                                "gelu",
                                "silu",
                                "sigmoid",
                                "tanh",
                                "erf",
                                "where",
                                "clamp",
                                "hardtanh",
                                "_to_copy",
                                "dropout",
                                "leaky_relu",
                                "batch_norm",
                                "_native_batch_norm_legit_no_training",
                                "native_batch_norm"});
  return kinds;
}

static NamedKind classify(StringRef name) {
  static const llvm::StringMap<NamedKind> kinds = makeKinds();
  return kinds.lookup(name);
}

//===-- Work ----------------------------------------------------------------------------------------------------===//

/// Returns two FLOP per element of the result and of the dimension that is summed over.
static double countMatmulFlops(Operation *op, StringRef name) {
  unsigned left = name == "addmm" || name == "baddbmm" || name == "addmv" ? 1 : 0; // The first operand is the addend.
  auto type = op->getNumOperands() > left ? dyn_cast<RankedTensorType>(op->getOperand(left).getType()) : nullptr;
  double summed = type && type.getRank() > 0 ? assumed(type.getShape().back()) : kAssumedDim;
  return op->getNumResults() ? 2 * summed * countElements(op->getResult(0).getType()) : 0;
}

/// Returns the FLOP of the product of queries and keys, and of the product of the resulting attention weights and
/// values.
static double countAttentionFlops(Operation *op) {
  auto sizeOf = [&](unsigned operand, size_t back) {
    auto type =
        op->getNumOperands() > operand ? dyn_cast<RankedTensorType>(op->getOperand(operand).getType()) : nullptr;
    return type && type.getShape().size() >= back ? assumed(type.getShape().take_back(back).front()) : kAssumedDim;
  };
  if (op->getNumResults() == 0)
    return 0;
  double width = sizeOf(2, 1), rows = countElements(op->getResult(0).getType()) / std::max(1.0, width);
  return 2 * rows * sizeOf(1, 2) * (sizeOf(0, 1) + width);
}

/// Returns two FLOP per element of the result and of the weights that contribute to it. The first dimension of weights
/// is the output channels.
static double countConvolutionFlops(Operation *op) {
  if (isa<ConvTransposeOp>(op)) { // Each element of the input is multiplied by the weights of its channel.
    auto weight = cast<RankedTensorType>(op->getOperand(1).getType());
    return 2 * countElements(op->getOperand(0).getType()) * countElements(weight) /
           std::max(1.0, assumed(weight.getShape().front()));
  }
  auto weight = op->getNumOperands() > 1 ? dyn_cast<RankedTensorType>(op->getOperand(1).getType()) : nullptr;
  double window = kAssumedDim;
  if (weight && weight.getRank() > 0)
    window = countElements(weight) / std::max(1.0, assumed(weight.getShape().front()));
  return op->getNumResults() ? 2 * window * countElements(op->getResult(0).getType()) : 0;
}

static OpWork estimateLinalg(linalg::LinalgOp op) {
  OpWork work{WorkKind::Elementwise, 0, sumBytes(op.getOperation())};
  double points = 2;
  for (int64_t size : op.getStaticLoopRanges())
    points *= assumed(size);
  if (linalg::isaContractionOpInterface(op))
    work.kind = WorkKind::Matmul;
  else if (linalg::isaConvolutionOpInterface(op))
    work.kind = WorkKind::Convolution;
  else if (op.getNumReductionLoops() > 0)
    work.kind = WorkKind::Reduction;
  if (isProduct(work.kind))
    work.flops = points;
  return work;
}

OpWork inlay::estimateWork(Operation *op) {
  if (isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>())
    return {WorkKind::Other, 0, 0, true};
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return estimateLinalg(linalgOp);
  StringRef name = getBareName(op);
  NamedKind named = classify(name);
  if (named.isFree)
    return {named.kind, 0, 0, true};
  if (named.kind == WorkKind::Other && (isa<PointwiseOpInterface>(op) || op->hasTrait<OpTrait::Elementwise>()))
    named.kind = WorkKind::Elementwise;
  OpWork work{named.kind, 0, sumBytes(op)};
  if (name == "scaled_dot_product_attention")
    work.flops = countAttentionFlops(op);
  else if (work.kind == WorkKind::Matmul)
    work.flops = countMatmulFlops(op, name);
  else if (work.kind == WorkKind::Convolution)
    work.flops = countConvolutionFlops(op);
  else if (work.kind == WorkKind::Layout) // It only reads the elements that it returns.
    work.bytes = 2 * sumBytes(op->getResults());
  return work;
}

double inlay::combineRegions(Operation *op, double sum, double longest) {
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return longest;
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<APInt> count = loop ? loop.getStaticTripCount() : std::nullopt;
  return count ? count->roundToDouble() * sum : sum;
}
