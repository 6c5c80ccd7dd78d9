// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens workgroups and numbers tiles. It does not choose the number of invocations per workgroup: that is
// `options.block` in VulkanTarget.cpp.

#include "Launch.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace inlay;

bool Grid::isExact() const {
  auto columns = dyn_cast<AffineConstantExpr>(height);
  return columns && columns.getValue() == 1;
}

Grid inlay::foldGrid(AffineExpr groups, int64_t maxGroups, int64_t maxGrid) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, groups.getContext()); };
  AffineExpr width = groups;
  if (auto known = dyn_cast<AffineConstantExpr>(groups))
    width = constant(std::min(known.getValue(), maxGrid));
  else if (maxGroups >= maxGrid) // Short rows, so that few workgroups of the last row are idle.
    width = constant(std::min<int64_t>(maxGrid, 256));
  return {width, width == groups ? constant(1) : groups.ceilDiv(width)};
}

Launch inlay::openWorkgroups(OpBuilder &builder, Location loc, AffineExpr groups, int64_t maxGroups, int64_t size,
                             int64_t maxGrid) {
  auto value = [&](AffineExpr expr) {
    return getValueOrCreateConstantIndexOp(builder, loc, materializeExpr(builder, loc, expr));
  };
  Grid grid = foldGrid(groups, maxGroups, maxGrid);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1), count = value(groups);
  Value block = arith::ConstantIndexOp::create(builder, loc, size);
  auto launch = gpu::LaunchOp::create(builder, loc, value(grid.width), value(grid.height), one, block, one, one);
  OpBuilder inner = OpBuilder::atBlockBegin(&launch.getBody().front());
  Value number = launch.getBlockIds().x;
  gpu::TerminatorOp::create(inner, loc);
  inner.setInsertionPointToStart(&launch.getBody().front());
  if (!grid.isExact()) {
    Value row = arith::MulIOp::create(inner, loc, launch.getBlockIds().y, launch.getGridSize().x);
    number = arith::AddIOp::create(inner, loc, row, number);
    Value inside = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, number, count);
    inner = scf::IfOp::create(inner, loc, inside, /*withElseRegion=*/false).getThenBodyBuilder();
  }
  return {launch, inner, number, count};
}

void inlay::sinkScalars(gpu::LaunchOp launch, Value kept) {
  Region &body = launch.getBody();
  auto isSinkable = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || value == kept || isa<MemRefType>(value.getType()))
      return false;
    return op->hasTrait<OpTrait::ConstantLike>() || (!value.getType().isIndex() && isPure(op));
  };
  OpBuilder builder = OpBuilder::atBlockBegin(&body.front());
  for (bool changed = true; std::exchange(changed, false);) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(body, captured);
    for (Value value : captured)
      if (isSinkable(value)) {
        builder.setInsertionPointToStart(&body.front());
        replaceAllUsesInRegionWith(value, builder.clone(*value.getDefiningOp())->getResult(0), body);
        changed = true;
      }
  }
}

SmallVector<Value> inlay::splitNumber(OpBuilder &builder, Location loc, ArrayRef<int64_t> factors,
                                      ArrayRef<OpFoldResult> counts, Value number) {
  SmallVector<Value> base(counts.size());
  size_t outermost = 0; // The outermost loop with more than one tile.
  while (outermost < counts.size() && (!counts[outermost] || isConstantIntValue(counts[outermost], 1)))
    ++outermost;
  for (size_t loop = counts.size(); loop-- > 0;) {
    if (!counts[loop])
      continue;
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    if (isConstantIntValue(counts[loop], 1)) {
      base[loop] = constant(0);
      continue;
    }
    Value index = number; // The remaining number.
    if (loop != outermost) {
      Value count = getValueOrCreateConstantIndexOp(builder, loc, counts[loop]);
      index = arith::RemUIOp::create(builder, loc, number, count);
      number = arith::DivUIOp::create(builder, loc, number, count);
    }
    base[loop] = arith::MulIOp::create(builder, loc, index, constant(factors[loop]));
  }
  return base;
}

int64_t inlay::countIterations(const TileEmitter &emitter, const ReductionShare &share) {
  int64_t runs = 1, total = 0;
  auto addLoop = [&](int64_t iterations) { return llvm::AddOverflow(total, iterations, total); };
  SmallVector<SumCut> cuts = emitter.cutReductions(share.loop, share.count, /*roundsUp=*/true);
  for (auto [number, loop, cut] : llvm::enumerate(emitter.shape().loops, cuts)) {
    if (!loop.reduction)
      continue;
    int64_t size = getRange(emitter.size(number), emitter.getSymbols()).max;
    if (number == share.loop)
      size = llvm::divideCeil(size, share.count);
    int64_t outside = runs;
    if (llvm::MulOverflow(runs, size, runs) || addLoop(runs) || total > kMaxIterations)
      return kMaxIterations + 1;
    for (int64_t block : cut.blocks) // The loop over blocks of one step is the loop itself.
      if (block > 1 && (addLoop(outside * llvm::divideCeil(size, block)) || total > kMaxIterations))
        return kMaxIterations + 1;
  }
  return total;
}

void inlay::cutSums(TileEmitter &emitter, const ReductionShare &share) {
  for (int64_t terms = chooseMaxTerms(emitter.shape()); terms <= kMaxIterations; terms *= 4) {
    emitter.setMaxTerms(terms);
    if (countIterations(emitter, share) <= kMaxIterations)
      return;
  }
  emitter.setMaxTerms(0);
}

SmallVector<size_t> inlay::findRagged(const LoopNestShape &shape, const TileShape &tile) {
  SmallVector<size_t> ragged;
  for (auto [number, loop, factor] : llvm::enumerate(shape.loops, tile.factors))
    if (factor > 1 && (loop.isOpen || loop.size % factor))
      ragged.push_back(number);
  return ragged;
}
