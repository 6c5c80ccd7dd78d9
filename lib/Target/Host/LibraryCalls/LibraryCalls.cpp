// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Has what all library calls share: checks of operands and work, absorption of the ops that follow, and the creation
// of the call. Products.cpp, Convolution.cpp and Attention.cpp recognize their ops.

#include "LibraryCalls.h"
#include "FormLibraryCalls.h"
#include "inlay/Convert/GraphToLinalg/GraphToLinalgPattern.h"
#include "inlay/Convert/GraphToLinalg/Structured.h"
#include "inlay/Dialect/Inlay/IR/Symbols.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace inlay;
using plan::HostKernelKind;

/// Multiplications below which generated code is faster than a call, which has to look up the library function.
static constexpr int64_t kMinWork = 1 << 12;

//===-- Parts of a call ------------------------------------------------------------------------------------------===//

LogicalResult inlay::checkOperands(PatternRewriter &rewriter, Operation *op) {
  SmallVector<Value> values(op->getOperands());
  values.push_back(op->getResult(0));
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isMask = type && isa<ScaledDotProductAttentionOp>(op) && type.getElementType().isInteger(1);
    if (!type || type.getEncoding() || !(type.getElementType().isF32() || isMask))
      return rewriter.notifyMatchFailure(op, "expected f32, but got " + spell(value.getType()));
    if (llvm::is_contained(type.getShape(), 0))
      return rewriter.notifyMatchFailure(op, "expected a tensor with elements");
    if (!getDims(value))
      return rewriter.notifyMatchFailure(op,
                                         "expected dims that follow from the dims of inputs, but got " + spell(type));
  }
  return success();
}

LogicalResult inlay::checkWork(PatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> loops) {
  int64_t work = 1;
  for (int64_t size : loops)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(work, size, work))
      return success();
  if (work >= kMinWork)
    return success();
  return rewriter.notifyMatchFailure(op, "expected at least " + Twine(kMinWork) + " multiplications, but got " +
                                             Twine(work));
}

void inlay::addInput(LibraryCall &call, Value value, AffineMap map) {
  while (auto permute = value.getDefiningOp<PermuteOp>()) {
    // Dim i of the result is dim dims[i] of the operand.
    SmallVector<AffineExpr> exprs(map.getNumResults());
    for (auto [i, dim] : llvm::enumerate(permute.getDims()))
      exprs[dim < 0 ? dim + map.getNumResults() : dim] = map.getResult(i);
    map = makeMap(value.getContext(), map.getNumDims(), exprs);
    value = permute.getInput();
  }
  call.inputs.push_back(value);
  call.maps.push_back(map);
}

//===-- Ops that follow ------------------------------------------------------------------------------------------===//

/// Absorbs a permutation of the result of a contraction into the result map.
static bool absorbPermute(LibraryCall &call, Operation *user) {
  auto permute = dyn_cast<PermuteOp>(user);
  if (!permute || call.kind != HostKernelKind::contraction)
    return false;
  int64_t rank = call.resultMap.getNumResults();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : permute.getDims())
    exprs.push_back(call.resultMap.getResult(dim < 0 ? dim + rank : dim));
  call.resultMap = makeMap(user->getContext(), call.resultMap.getNumDims(), exprs);
  call.absorbed.push_back(user);
  return true;
}

/// The runtime's kernels have at most 32 buffers (Runtime/Host/Kernels), one of which is the result.
static constexpr size_t kMaxInputs = 31;

/// Absorbs a sum or product with another tensor. The tensor must have the shape of the result, or broadcast to it if
/// the call is a contraction.
static bool absorbBinary(LibraryCall &call, Operation *user) {
  Value result = call.getResult();
  if (!isa<AddOp, MulOp>(user) || user->getResult(0).getType() != result.getType() || call.inputs.size() >= kMaxInputs)
    return false;
  Value other = user->getOperand(user->getOperand(0) == result ? 1 : 0);
  auto type = dyn_cast<RankedTensorType>(other.getType());
  if (!type || !type.getElementType().isF32() || !getDims(other))
    return false;
  if (call.kind != HostKernelKind::contraction) {
    if (type != result.getType())
      return false;
    call.inputs.push_back(other);
  } else {
    SmallVector<AffineExpr> exprs;
    int64_t offset = call.resultMap.getNumResults() - type.getRank();
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      bool isRepeated = size == 1 && tensorType(result).getDimSize(offset + dim) != 1;
      exprs.push_back(isRepeated ? getAffineConstantExpr(0, user->getContext())
                                 : call.resultMap.getResult(offset + dim));
    }
    addInput(call, other, makeMap(user->getContext(), call.resultMap.getNumDims(), exprs));
  }
  auto kind = isa<AddOp>(user) ? plan::PostOpKind::add : plan::PostOpKind::mul;
  call.postOps.push_back(plan::PostOpAttr::get(user->getContext(), kind, {}, {}));
  call.absorbed.push_back(user);
  return true;
}

void inlay::absorbUsers(LibraryCall &call) {
  while (true) {
    Value result = call.getResult();
    if (std::optional<Activation> activation = matchActivation(result)) {
      call.postOps.push_back(activation->postOp);
      llvm::append_range(call.absorbed, activation->ops);
      continue;
    }
    if (!result.hasOneUse())
      return;
    Operation *user = *result.user_begin();
    if (user->getBlock() != call.absorbed.back()->getBlock() ||
        !(absorbPermute(call, user) || absorbBinary(call, user)))
      return;
  }
}

//===-- Calls ---------------------------------------------------------------------------------------------------===//

/// Returns true if `value` is an argument that is the same at each call, or a reshape of one. A permuted copy would be
/// in different memory at each call.
static bool isConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), plan::kConstantArgumentAttr);
}

Value inlay::createCall(PatternRewriter &rewriter, Location loc, const LibraryCall &call, Value init) {
  SmallVector<int64_t> constants;
  for (auto [number, input] : llvm::enumerate(call.inputs))
    if (isConstant(input))
      constants.push_back(number);
  ArrayAttr maps;
  if (call.kind == HostKernelKind::contraction) {
    SmallVector<AffineMap> all(call.maps);
    all.push_back(call.resultMap);
    maps = rewriter.getAffineMapArrayAttr(all);
  }
  auto op = plan::LibraryCallOp::create(
      rewriter, loc, init.getType(), call.kind, call.inputs, init, maps,
      constants.empty() ? DenseI64ArrayAttr() : rewriter.getDenseI64ArrayAttr(constants),
      call.postOps.empty() ? ArrayAttr() : rewriter.getArrayAttr(call.postOps),
      call.config.empty() ? DictionaryAttr() : call.config.getDictionary(rewriter.getContext()),
      call.window.empty() ? DenseI64ArrayAttr() : rewriter.getDenseI64ArrayAttr(call.window));
  return op.getResult();
}

void inlay::replaceAbsorbed(PatternRewriter &rewriter, const LibraryCall &call) {
  Operation *last = call.absorbed.back();
  rewriter.setInsertionPoint(last);
  Location loc = rewriter.getFusedLoc(llvm::map_to_vector(call.absorbed, [](Operation *op) { return op->getLoc(); }));
  RankedTensorType type = tensorType(call.getResult());
  SmallVector<Value> sizes; // Sizes of the dynamic dims.
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, getSize(rewriter, loc, call.getResult(), dim)));
  Value result = createCall(rewriter, loc, call, tensor::EmptyOp::create(rewriter, loc, type, sizes));
  copyDims(last, result.getDefiningOp()); // Later conversions read the dims of the result.
  rewriter.replaceOp(last, result);
  for (Operation *absorbed : llvm::reverse(ArrayRef(call.absorbed).drop_back()))
    rewriter.eraseOp(absorbed);
}
