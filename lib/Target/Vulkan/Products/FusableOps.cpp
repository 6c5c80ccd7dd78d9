// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by their accesses to buffers whether ops may be computed by one kernel.

#include "FusableOps.h"
#include "inlay/Convert/Bufferize/BufferUses.h"
#include "inlay/Convert/LoopNest/SizeExprs.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace inlay;

Location inlay::fuseLocs(ArrayRef<linalg::LinalgOp> ops) {
  SmallVector<Location> locs = llvm::map_to_vector(ops, [](linalg::LinalgOp op) { return op.getLoc(); });
  return FusedLoc::get(locs.front().getContext(), locs);
}

/// Returns true if `matches` is true for a use of `op` and a use of `other` that have the same buffer.
static bool haveCommonBuffer(linalg::LinalgOp op, linalg::LinalgOp other,
                             llvm::function_ref<bool(const BufferUse &, const BufferUse &)> matches) {
  SmallVector<BufferUse> uses = listUses(other);
  return llvm::any_of(listUses(op), [&](const BufferUse &one) {
    return llvm::any_of(uses, [&](const BufferUse &two) { return one.root == two.root && matches(one, two); });
  });
}

bool inlay::writesInputs(linalg::LinalgOp op, linalg::LinalgOp other) {
  return haveCommonBuffer(op, other, [](auto &one, auto &two) { return one.writes && !two.writes; });
}

bool inlay::shareInputs(linalg::LinalgOp op, linalg::LinalgOp other) {
  return haveCommonBuffer(op, other, [](auto &one, auto &two) { return !one.writes && !two.writes; });
}

bool inlay::accessesPacked(linalg::LinalgOp op, const PackedOperand *packed) {
  return packed && llvm::any_of(listUses(op), [&](const BufferUse &use) {
           return llvm::is_contained(packed->getBuffers(), use.root);
         });
}

bool inlay::fitsBuffers(ArrayRef<linalg::LinalgOp> ops, const PackedOperand *packed, int64_t maxBuffers) {
  llvm::SmallDenseSet<Value> roots;
  if (packed)
    roots.insert(packed->getBuffers().begin(), packed->getBuffers().end());
  for (linalg::LinalgOp op : ops)
    for (const BufferUse &use : listUses(op))
      if (!packed || use.view != packed->getMatrix())
        roots.insert(use.root);
  return int64_t(roots.size()) <= maxBuffers;
}

int64_t inlay::countBodySteps(linalg::LinalgOp op) {
  constexpr int64_t kFunction = 32; // Instructions of exp, tanh or erf on devices that compute them by polynomials.
  int64_t steps = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    steps += isa<math::MathDialect>(inner.getDialect()) ? kFunction : 1;
  return steps;
}

/// Returns true if `op`, without the ops in its regions, writes a buffer of `uses`, or reads one that they write, or if
/// that is unknown.
static bool conflicts(Operation *op, ArrayRef<BufferUse> uses) {
  bool isInLaunch = op->getParentOfType<gpu::LaunchOp>() != nullptr;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) // Ops of a launch without effects on buffers are barriers and the like.
    return !isInLaunch && !isPure(op) && op->getNumRegions() == 0;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::any_of(all, [&](const MemoryEffects::EffectInstance &effect) {
    if (!effect.getValue())
      return !isInLaunch;
    bool isWrite = !isa<MemoryEffects::Read>(effect.getEffect());
    Value root = findRoot(effect.getValue());
    return llvm::any_of(uses, [&](const BufferUse &use) { return use.root == root && (isWrite || use.writes); });
  });
}

static bool dependsOn(Operation *between, ArrayRef<BufferUse> uses) {
  return between
      ->walk([&](Operation *inner) { return conflicts(inner, uses) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool inlay::canDelay(linalg::LinalgOp op, Operation *later) {
  constexpr int kMaxOps = 32; // To keep the time of the conversion linear.
  SmallVector<BufferUse> uses = listUses(op);
  int ops = 0;
  for (Operation *next = op->getNextNode(); next && next != later; next = next->getNextNode())
    if (!isPure(next) && (++ops > kMaxOps || dependsOn(next, uses)))
      return false;
  return true;
}
