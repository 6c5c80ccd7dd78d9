// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits long reductions into parts that a second kernel joins, which matrix libraries call "split-K". RowKernel.cpp
// (`emitShared`) shares a reduction among the invocations of a workgroup instead.

#include "SubgroupProductProfile.h"
#include "SumPolicy.h"
#include "inlay/Convert/LoopNest/Combiner.h"
#include "inlay/Dialect/Plan/IR/AttributeNames.h"
#include "inlay/Target/Vulkan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace inlay {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "inlay/Target/Vulkan/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

//===-- Conditions -----------------------------------------------------------------------------------------------===//

/// Returns the op that joins the parts of `op`, or null if `op` cannot be split.
static Operation *findJoin(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.hasIndexSemantics() || op.hasDynamicShape())
    return nullptr;
  return findCombiner(op);
}

/// Returns true if each operand is indexed by exactly `loop` or does not depend on it, so that splitting the dim is a
/// view.
static bool isPlain(linalg::GenericOp op, unsigned loop) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(),
                        [&](AffineExpr result) { return isa<AffineDimExpr>(result) || !result.isFunctionOfDim(loop); });
  });
}

/// Returns the longest reduction that can be split, or -1 if there is none.
static int findLoop(linalg::GenericOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int longest = -1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction && isPlain(op, loop) && (longest < 0 || sizes[loop] > sizes[longest]))
      longest = static_cast<int>(loop);
  return longest;
}

/// Returns true if no neighbor of `op` goes along its reduction: no structured op computes its inputs, and no reader of
/// its result also reads its inputs, as in a softmax or a norm.
static bool isAlone(linalg::GenericOp op) {
  auto inputs =
      llvm::make_filter_range(op.getDpsInputs(), [](Value input) { return isa<ShapedType>(input.getType()); });
  return llvm::all_of(inputs, [&](Value input) {
    return !input.getDefiningOp<linalg::LinalgOp>() && llvm::none_of(input.getUsers(), [&](Operation *user) {
      return user != op && llvm::is_contained(user->getOperands(), op.getResult(0));
    });
  });
}

/// Returns true if an input of `op` comes from a `dequantize`.
static bool hasPackedInput(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    Operation *producer = input.getDefiningOp();
    return producer && producer->hasAttr(plan::kDequantizeAttr);
  });
}

//===-- The shape for the policy ---------------------------------------------------------------------------------===//

/// Returns the elements by which one step of each loop moves a contiguous operand.
static std::vector<int64_t> readStrides(AffineMap map, ShapedType type, unsigned loops) {
  std::vector<int64_t> strides(loops, 0);
  int64_t stride = 1;
  for (unsigned dim = map.getNumResults(); dim-- > 0; stride *= type.getDimSize(dim)) {
    SmallVector<int64_t> at(loops, 0);
    auto evaluate = [&] {
      SmallVector<Attribute> constants;
      Builder builder(map.getContext());
      for (int64_t index : at)
        constants.push_back(builder.getIndexAttr(index));
      SmallVector<Attribute> result;
      if (failed(map.getSubMap(dim).constantFold(constants, result)))
        return int64_t(0);
      return cast<IntegerAttr>(result.front()).getInt();
    };
    int64_t origin = evaluate();
    for (unsigned loop = 0; loop < loops; ++loop) {
      at[loop] = 1;
      strides[loop] += (evaluate() - origin) * stride;
      at[loop] = 0;
    }
  }
  return strides;
}

static LoopNestShape readShape(linalg::GenericOp op) {
  LoopNestShape shape;
  for (auto [size, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    shape.loops.push_back({size, kind == utils::IteratorType::reduction});
  unsigned loops = shape.loops.size();
  auto strides = [&](OpOperand &operand) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    return type ? readStrides(op.getMatchingIndexingMap(&operand), type, loops) : std::vector<int64_t>(loops, 0);
  };
  for (OpOperand *input : op.getDpsInputOperands())
    shape.inputStrides.push_back(strides(*input));
  shape.outputStrides = strides(*op.getDpsInitOperand(0));
  return shape;
}

//===-- Splitting -----------------------------------------------------------------------------------------------===//

namespace {
/// Splits one op along `loop` into `parts`. The loop over the parts is the first loop of the first op and the last loop
/// of the second op.
struct Splitter {
  Splitter(linalg::GenericOp op, unsigned loop, int64_t parts)
      : op(op), loop(loop), parts(parts), builder(op), loc(op.getLoc()) {}

  void run(Operation *combiner);

private:
  Value split(Value operand, AffineMap map);
  AffineMap addParts(AffineMap map, bool isOutput);
  Value join(Value inParts, Operation *combiner);

  linalg::GenericOp op;
  unsigned loop;
  int64_t parts;
  OpBuilder builder;
  Location loc;
};
} // namespace

/// Splits the dim of `operand` along the loop into two dims, part and step.
Value Splitter::split(Value operand, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !map.isFunctionOfDim(loop))
    return operand;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> dims;
  for (auto [result, size] : llvm::zip(map.getResults(), type.getShape())) {
    ReassociationIndices &group = groups.emplace_back();
    group.push_back(dims.size());
    if (result.isFunctionOfDim(loop)) {
      dims.push_back(parts);
      group.push_back(dims.size());
      dims.push_back(size / parts);
    } else {
      dims.push_back(size);
    }
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(dims), operand, groups);
}

/// Returns `map` with the loop over the parts as its first loop.
AffineMap Splitter::addParts(AffineMap map, bool isOutput) {
  MLIRContext *context = map.getContext();
  AffineExpr part = getAffineDimExpr(0, context);
  SmallVector<AffineExpr> results;
  if (isOutput)
    results.push_back(part);
  for (AffineExpr result : map.getResults()) {
    if (result.isFunctionOfDim(loop))
      results.push_back(part);
    results.push_back(result.shiftDims(map.getNumDims(), 1));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, context);
}

/// Reduces `inParts` along its first dim into the initial value of `op`.
Value Splitter::join(Value inParts, Operation *combiner) {
  MLIRContext *context = op.getContext();
  Value init = op.getDpsInitOperand(0)->get();
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  AffineMap result = AffineMap::getMultiDimIdentityMap(rank + 1, context).dropResult(rank);
  SmallVector<AffineExpr> partFirst{getAffineDimExpr(rank, context)};
  llvm::append_range(partFirst, result.getResults());
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  auto joined = linalg::GenericOp::create(builder, loc, init.getType(), inParts, init,
                                          ArrayRef<AffineMap>{AffineMap::get(rank + 1, 0, partFirst, context), result},
                                          kinds, [&](OpBuilder &inside, Location, ValueRange values) {
                                            Operation *same = inside.clone(*combiner);
                                            same->setOperands(values);
                                            linalg::YieldOp::create(inside, loc, same->getResult(0));
                                          });
  return joined.getResult(0);
}

void Splitter::run(Operation *combiner) {
  OpOperand *init = op.getDpsInitOperand(0);
  auto type = cast<RankedTensorType>(init->get().getType());
  SmallVector<int64_t> dims{parts};
  llvm::append_range(dims, type.getShape());
  Value neutral = arith::ConstantOp::create(builder, loc, getNeutral(combiner));
  Value empty = tensor::EmptyOp::create(builder, loc, dims, type.getElementType());
  Value start = linalg::FillOp::create(builder, loc, neutral, empty).getResult(0);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    inputs.push_back(split(input->get(), map));
    maps.push_back(addParts(map, /*isOutput=*/false));
  }
  maps.push_back(addParts(op.getMatchingIndexingMap(init), /*isOutput=*/true));
  SmallVector<utils::IteratorType> kinds{utils::IteratorType::parallel};
  llvm::append_range(kinds, op.getIteratorTypesArray());
  auto inParts = linalg::GenericOp::create(builder, loc, start.getType(), inputs, start, maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&inParts.getRegion(), mapping);
  op.getResult(0).replaceAllUsesWith(join(inParts.getResult(0), combiner));
  op.erase();
}

namespace {
struct SplitSumsPass : inlay::impl::SplitSumsPassBase<SplitSumsPass> {
  using SplitSumsPassBase::SplitSumsPassBase;

  void runOnOperation() override {
    if (longest < 1 || subgroup < 0) {
      getOperation().emitError(
          "expected option 'longest' to be positive and option 'subgroup' to be at least 0, but got ")
          << longest.getValue() << " and " << subgroup.getValue();
      return signalPassFailure();
    }
    FailureOr<SubgroupProductProfile> profile =
        makeProfile(getOperation(), {subgroup, arithmetic, inSoftware, texels, tuning});
    if (failed(profile))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      Operation *combiner = findJoin(op);
      int loop = combiner ? findLoop(op) : -1;
      int64_t parts =
          loop < 0 ? 1 : chooseParts(readShape(op), loop, longest, *profile, isAlone(op), hasPackedInput(op));
      if (parts > 1)
        Splitter(op, loop, parts).run(combiner);
    }
  }
};
} // namespace
