// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which ops form a row group. RowGroupPlan.cpp fits it to a workgroup, RowKernel.cpp emits it, and
// FormWorkgroupKernels.cpp is the pass.

#include "RowGroup.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace inlay;

/// Bounds the time of forming groups, and the size of kernels, which drivers compile slowly if they are large.
static constexpr size_t kMaxMembers = 16;

static bool isParallel(linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
}

bool inlay::isProduct(linalg::LinalgOp op, ArrayRef<unsigned> rows) {
  return op.getNumReductionLoops() > 0 && op.getNumParallelLoops() > rows.size();
}

/// Returns true if the ops of the body are pure or load from buffers, and each iteration of the parallel loops writes
/// different elements.
static bool isPlain(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isPure(&inner) || isa<memref::LoadOp>(inner); }) &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return isa<MemRefType>(init.get().getType()) &&
                  op.getMatchingIndexingMap(&init).isProjectedPermutation(/*allowZeroInResults=*/true);
         });
}

/// Returns true if `loop` is a result of the map.
static bool isAlong(AffineMap map, unsigned loop) {
  return llvm::is_contained(map.getResults(), getAffineDimExpr(loop, map.getContext()));
}

static bool writesAlong(linalg::LinalgOp op, unsigned loop) {
  return llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) { return isAlong(op.getMatchingIndexingMap(&init), loop); });
}

/// Returns true if some input is indexed by a permutation of the loops and is contiguous along a reduction.
static bool readsRows(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isa<MemRefType>(input->get().getType()) || !map.isPermutation() || map.getNumResults() == 0)
      return false;
    return !isParallel(op, cast<AffineDimExpr>(map.getResults().back()).getPosition());
  });
}

std::optional<RowGroup> RowGroup::create(linalg::LinalgOp anchor, int64_t minRow) {
  if (anchor.getNumReductionLoops() == 0 || anchor.getNumParallelLoops() == 0 || !isPlain(anchor) ||
      !readsRows(anchor) || !TileEmitter::canShare(anchor))
    return std::nullopt;
  RowGroup group;
  Member first{anchor, {}};
  AffineExpr length = getAffineConstantExpr(1, anchor.getContext());
  for (unsigned loop = 0; loop < anchor.getNumLoops(); ++loop) {
    AffineExpr size = readLoopSize(anchor, loop);
    if (!size)
      return std::nullopt;
    if (!isParallel(anchor, loop)) {
      length = length * size;
      continue;
    }
    if (!writesAlong(anchor, loop))
      return std::nullopt;
    first.loops.push_back(loop);
    group.sizes.push_back(size);
  }
  if (getTypicalValue(length, getSymbols(anchor)) < minRow)
    return std::nullopt;
  group.ops.push_back(std::move(first));
  return group;
}

namespace {
/// Finds the row loops among the loops of an op.
class Alignment {
public:
  explicit Alignment(size_t rows) : loops(rows) {}

  /// Aligns `after` with `before`, two uses of one buffer. `known` are the row loops of `before`. Fails if the uses
  /// access elements of each other's rows.
  LogicalResult add(const BufferUse &before, ArrayRef<unsigned> known, const BufferUse &after) {
    if (!before.map || !after.map)
      return failure();
    std::optional<SmallVector<AffineExpr>> beforeIndices(before.map.getResults()), afterIndices(after.map.getResults());
    if (before.view != after.view) {
      beforeIndices = findRootIndices(before.view, *beforeIndices);
      afterIndices = findRootIndices(after.view, *afterIndices);
    }
    if (!beforeIndices || !afterIndices)
      return failure();
    for (auto [row, loop] : llvm::enumerate(known)) {
      bool isSeparate = false;
      for (auto [beforeExpr, afterExpr] : llvm::zip_equal(*beforeIndices, *afterIndices)) {
        if (beforeExpr != getAffineDimExpr(loop, beforeExpr.getContext()))
          continue;
        auto dim = dyn_cast<AffineDimExpr>(afterExpr);
        if (!dim || (loops[row] && *loops[row] != dim.getPosition()))
          return failure();
        loops[row] = dim.getPosition();
        isSeparate = true;
      }
      if (!isSeparate)
        return failure();
    }
    return success();
  }

  /// Returns the row loops, or nullopt if some row loop has no loop of the op.
  std::optional<SmallVector<unsigned>> get() const {
    SmallVector<unsigned> all;
    for (std::optional<unsigned> loop : loops)
      if (loop && !llvm::is_contained(all, *loop))
        all.push_back(*loop);
    return all.size() == loops.size() ? std::optional<SmallVector<unsigned>>(all) : std::nullopt;
  }

private:
  SmallVector<std::optional<unsigned>> loops;
};
} // namespace

std::optional<SmallVector<unsigned>> RowGroup::align(linalg::LinalgOp op) const {
  Alignment alignment(sizes.size());
  for (const BufferUse &use : listUses(op))
    for (const Member &member : ops)
      for (const BufferUse &other : listUses(member.op))
        if (use.root == other.root && (use.writes || other.writes) && failed(alignment.add(other, member.loops, use)))
          return std::nullopt;
  return alignment.get();
}

bool RowGroup::fits(linalg::LinalgOp op, ArrayRef<unsigned> loops, bool takesProducts) const {
  unsigned symbols = getSymbols(op).size();
  for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
    AffineExpr opSize = readLoopSize(op, loop);
    if (!opSize || !areEqual(opSize, size, symbols) || !isParallel(op, loop) || !writesAlong(op, loop))
      return false;
  }
  // A workgroup must not write short pieces of each line of memory.
  if (op.getNumParallelLoops() > loops.size() && llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
        auto last = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&init).getResults().back());
        return last && llvm::is_contained(loops, last.getPosition());
      }))
    return false;
  if (op.getNumReductionLoops() == 0)
    return true;
  if (!isProduct(op, loops))
    return TileEmitter::canShare(op);
  // An operand that all workgroups would read is better read by tiles of many rows, outside the group.
  auto variesByGroup = [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
           llvm::any_of(loops.drop_back(), [&](unsigned loop) { return isAlong(map, loop); });
  };
  return takesProducts && llvm::all_of(op.getDpsInputOperands(), variesByGroup);
}

bool RowGroup::join(linalg::LinalgOp op, bool atFront, bool takesProducts) {
  if (ops.size() == kMaxMembers || !isPlain(op))
    return false;
  std::optional<SmallVector<unsigned>> loops = align(op);
  if (!loops || !fits(op, *loops, takesProducts))
    return false;
  ops.insert(atFront ? ops.begin() : ops.end(), {op, std::move(*loops)});
  return true;
}

bool RowGroup::hasProducts() const {
  return llvm::any_of(ops, [](const Member &member) { return isProduct(member.op, member.loops); });
}
