// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the loop that threads share, and the ops that join it. FormHostKernels.cpp moves them into a function.
// Runtime/Host/Support/ThreadPool.cpp runs the chunks.

#include "SplitLoop.h"
#include "inlay/Convert/Bufferize/BufferUses.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"
#include "inlay/Convert/LoopNest/TileEmitter.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace inlay;

/// Number of steps that suffices for any number of threads.
static constexpr int64_t kManySteps = 16;

/// Bounds the time of forming groups, which would otherwise be quadratic.
static constexpr size_t kMaxMembers = 32;

/// Steps per unit of a contiguous loop: some vectors, a few cache lines.
static constexpr int64_t kUnit = 64;

//===-- Loops ---------------------------------------------------------------------------------------------------===//

/// Returns true if each output has a dim that exactly `loop` indexes.
static bool writesAlong(linalg::LinalgOp op, unsigned loop) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::is_contained(op.getMatchingIndexingMap(&init).getResults(), getAffineDimExpr(loop, op.getContext()));
  });
}

SmallVector<SplitLoop> inlay::findSplitLoops(linalg::LinalgOp op) {
  SmallVector<SplitLoop> loops;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && writesAlong(op, loop))
      if (AffineExpr size = readLoopSize(op, loop); size && size != getAffineConstantExpr(1, op.getContext()))
        loops.push_back({static_cast<unsigned>(loop), size});
  return loops;
}

/// Returns the loop along which the first output is contiguous, or nullopt.
static std::optional<unsigned> findContiguousLoop(linalg::LinalgOp op) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

/// Returns the loop by which to split `op`. Prefers loops that are not contiguous: the first with many steps, else the
/// longest.
static std::optional<SplitLoop> chooseSplitLoop(linalg::LinalgOp op) {
  SmallVector<SymbolAttr> symbols = getSymbols(op);
  std::optional<unsigned> contiguous = findContiguousLoop(op);
  std::optional<SplitLoop> along, across;
  auto count = [&](const SplitLoop &loop) { return getTypicalValue(loop.size, symbols); };
  for (const SplitLoop &loop : findSplitLoops(op)) {
    if (loop.loop == contiguous)
      along = loop;
    else if (!across || (count(*across) < kManySteps && count(loop) > count(*across)))
      across = loop;
  }
  if (along && (!across || (count(*across) < kManySteps / 2 && count(*along) >= kManySteps * kUnit)))
    return along;
  return across;
}

//===-- Groups --------------------------------------------------------------------------------------------------===//

namespace {
/// The elements of a root buffer that a step of a loop accesses: step i accesses elements from `offset` + i * `stride`,
/// at most `extent` of them.
struct Rows {
  int64_t stride, offset, extent;
};
} // namespace

/// Returns nullopt if anything is dynamic or a stride is negative.
static std::optional<Rows> findRows(linalg::LinalgOp op, const BufferUse &use, unsigned loop) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!cast<MemRefType>(use.root.getType()).hasStaticShape() || llvm::is_contained(ranges, ShapedType::kDynamic) ||
      failed(cast<MemRefType>(use.view.getType()).getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic) || ShapedType::isDynamic(offset))
    return std::nullopt;
  Rows rows{0, offset, 1};
  SmallVector<int64_t> total(ranges.size(), 0);
  for (auto [stride, expr] : llvm::zip_equal(strides, use.map.getResults())) {
    SmallVector<int64_t> coefficients;
    if (failed(getFlattenedAffineExpr(expr, use.map.getNumDims(), 0, &coefficients)) ||
        coefficients.size() != ranges.size() + 1)
      return std::nullopt;
    rows.offset += stride * coefficients.pop_back_val();
    for (auto [sum, coefficient] : llvm::zip_equal(total, coefficients))
      sum += stride * coefficient;
  }
  for (auto [number, stride, range] : llvm::enumerate(total, ranges)) {
    if (stride < 0)
      return std::nullopt;
    if (number == loop)
      rows.stride = stride;
    else
      rows.extent += stride * std::max<int64_t>(range - 1, 0);
  }
  return rows;
}

/// Returns true if the elements of the root that step i of either loop accesses are accessed by no other step of both
/// loops.
static bool areAligned(linalg::LinalgOp first, const BufferUse &before, unsigned firstLoop, linalg::LinalgOp second,
                       const BufferUse &after, unsigned secondLoop) {
  if (!before.map || !after.map)
    return false;
  if (before.view == after.view)
    for (auto [lhs, rhs] : llvm::zip_equal(before.map.getResults(), after.map.getResults()))
      if (lhs == getAffineDimExpr(firstLoop, first.getContext()) &&
          rhs == getAffineDimExpr(secondLoop, second.getContext()))
        return true;
  std::optional<Rows> firstRows = findRows(first, before, firstLoop), secondRows = findRows(second, after, secondLoop);
  auto isSeparate = [](const Rows &rows) { return rows.offset >= 0 && rows.offset + rows.extent <= rows.stride; };
  return firstRows && secondRows && firstRows->stride == secondRows->stride && isSeparate(*firstRows) &&
         isSeparate(*secondRows);
}

SplitGroup::SplitGroup(linalg::LinalgOp first) {
  std::optional<SplitLoop> split = chooseSplitLoop(first);
  ops.emplace_back(first, split ? std::optional<unsigned>(split->loop) : std::nullopt);
  if (!split)
    return;
  steps = split->size;
  together = split->loop == findContiguousLoop(first) ? kUnit : 1;
}

bool SplitGroup::mayJoin(linalg::LinalgOp op, unsigned loop) const {
  for (const BufferUse &after : listUses(op))
    for (auto [other, otherLoop] : ops)
      for (const BufferUse &before : listUses(other))
        if (before.root == after.root && (before.writes || after.writes) &&
            !areAligned(other, before, *otherLoop, op, after, loop))
          return false;
  return true;
}

bool SplitGroup::join(linalg::LinalgOp op) {
  if (!steps || ops.size() == kMaxMembers)
    return false;
  unsigned symbols = getSymbols(op).size();
  SmallVector<SplitLoop> candidates = findSplitLoops(op);
  // Short pieces of each row would be slower than a second kernel.
  if (together == 1 && candidates.size() > 1)
    llvm::erase_if(candidates, [&](const SplitLoop &loop) { return loop.loop == findContiguousLoop(op); });
  for (const SplitLoop &candidate : candidates)
    if (areEqual(candidate.size, steps, symbols) && mayJoin(op, candidate.loop)) {
      ops.emplace_back(op, candidate.loop);
      return true;
    }
  return false;
}

int64_t SplitGroup::cost() const {
  uint64_t sum = 0;
  for (auto [op, split] : ops) {
    uint64_t elements = 1;
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges())) {
      int64_t size = loop == split ? together : range;
      if (ShapedType::isDynamic(size)) {
        AffineExpr expr = readLoopSize(op, loop);
        size = expr ? getTypicalValue(expr, getSymbols(op)) : 1;
      }
      elements = llvm::SaturatingMultiply<uint64_t>(elements, size);
    }
    sum = llvm::SaturatingAdd(sum, elements);
  }
  return static_cast<int64_t>(std::min<uint64_t>(sum, std::numeric_limits<int64_t>::max()));
}
