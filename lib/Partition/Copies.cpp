// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/Copies.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/OpKinds.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace inlay;

namespace {
constexpr auto kIgnoreLocations = OperationEquivalence::IgnoreLocations;

struct EqualConstants : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    return static_cast<unsigned>(OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue, OperationEquivalence::ignoreHashValue, kIgnoreLocations));
  }
  static bool isEqual(Operation *a, Operation *b) {
    bool isKey = a != getEmptyKey() && a != getTombstoneKey() && b != getEmptyKey() && b != getTombstoneKey();
    return a == b || (isKey && OperationEquivalence::isEquivalentTo(a, b, kIgnoreLocations));
  }
};
} // namespace

/// Moves `kept` up, and out of regions, as far as it must to stand before `other`.
static void moveToCoverBoth(Operation *kept, Operation *other) {
  Block *block = kept->getBlock();
  if (block != other->getBlock() && block->getParent() == other->getBlock()->getParent()) {
    // In sibling blocks: the entry block is before both.
    kept->moveBefore(&block->getParent()->front(), block->getParent()->front().begin());
    return;
  }
  Operation *at = block->findAncestorOpInBlock(*other);
  while (!at) {
    Operation *owner = block->getParentOp();
    block = owner->getBlock();
    at = block->findAncestorOpInBlock(*other);
    if (at && owner->isBeforeInBlock(at))
      at = owner;
  }
  if (block != kept->getBlock() || at->isBeforeInBlock(kept))
    kept->moveBefore(at);
}

void inlay::mergeConstants(Operation *root) {
  SmallVector<Operation *> constants;
  for (Region &region : root->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isConstantLike(op))
        constants.push_back(op);
      return op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? WalkResult::skip() : WalkResult::advance();
    });
  llvm::DenseSet<Operation *, EqualConstants> kept;
  for (Operation *op : constants) {
    auto [it, isNew] = kept.insert(op);
    if (isNew)
      continue;
    moveToCoverBoth(*it, op);
    op->replaceAllUsesWith(*it);
    op->erase();
  }
}

static bool mayMerge(Operation *op, const Aliases &aliases) {
  auto isMutated = [&](Value value) { return aliases.isMutated(value); };
  return op->getNumRegions() == 0 && (isCheapToClone(op) || isMemoryEffectFree(op)) &&
         llvm::none_of(op->getResults(), isMutated) && llvm::none_of(op->getOperands(), isMutated);
}

static bool isClone(Operation *op) { return op->hasAttr(InlayDialect::kCloneAttr); }

/// Equal but for what partitioning writes on ops.
static bool isEqualOp(Operation *a, Operation *b) {
  auto getOwn = [](Operation *op) {
    NamedAttrList attributes(op->getDiscardableAttrDictionary());
    attributes.erase(InlayDialect::kCloneAttr);
    attributes.erase(InlayDialect::kVerdictAttr);
    return attributes.getDictionary(op->getContext());
  };
  return a->getName() == b->getName() && llvm::equal(a->getOperands(), b->getOperands()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() && getOwn(a) == getOwn(b);
}

/// The ops of the block that equal `op`, itself included: users of the same value, or ops without operands alike.
static SmallVector<Operation *> findEqual(Operation *op, ArrayRef<Operation *> withoutOperands) {
  llvm::SetVector<Operation *> candidates;
  if (op->getNumOperands() == 0)
    candidates.insert(withoutOperands.begin(), withoutOperands.end());
  else
    candidates.insert(op->getOperand(0).user_begin(), op->getOperand(0).user_end());
  SmallVector<Operation *> equal;
  for (Operation *other : candidates)
    if (other->getBlock() == op->getBlock() && isEqualOp(op, other))
      equal.push_back(other);
  llvm::sort(equal, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return equal;
}

void inlay::mergeClones(Block &block, const Aliases &aliases) {
  SmallVector<Operation *> clones, withoutOperands;
  for (Operation &op : block) {
    if (isClone(&op) && mayMerge(&op, aliases))
      clones.push_back(&op);
    if (op.getNumOperands() == 0 && op.getNumResults() > 0 && !isConstantLike(&op))
      withoutOperands.push_back(&op);
  }
  llvm::DenseSet<Operation *> gone;
  for (Operation *first : clones) {
    if (gone.contains(first))
      continue;
    // All equal ones at once: what reads another copy is equal to what reads the original only then.
    SmallVector<Operation *> equal = findEqual(first, withoutOperands);
    auto findOriginal = [&](Operation *clone) {
      auto isOriginal = [](Operation *op) { return !isClone(op); };
      auto it = llvm::find_if(equal, [&](Operation *op) { return isOriginal(op) && op->getLoc() == clone->getLoc(); });
      if (it == equal.end())
        it = llvm::find_if(equal, isOriginal);
      return it == equal.end() ? first : *it;
    };
    for (Operation *clone : equal) {
      Operation *original = findOriginal(clone);
      if (!isClone(clone) || clone == original)
        continue;
      if (clone->isBeforeInBlock(original))
        original->moveBefore(clone);
      clone->replaceAllUsesWith(original);
      gone.insert(clone);
    }
    llvm::erase_if(withoutOperands, [&](Operation *op) { return gone.contains(op); });
  }
  for (Operation *clone : gone)
    clone->erase();
}
