// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges equal constants, and merges clones with their originals, when segments are dissolved or merged.
// Decide/CloneRules.cpp decides what is cloned.

#include "MergeClones.h"
#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <unordered_map>

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

/// Moves `kept` up and out of regions until it is before `other`.
static void moveToCoverBoth(Operation *kept, Operation *other) {
  Block *block = kept->getBlock();
  if (block != other->getBlock() && block->getParent() == other->getBlock()->getParent()) {
    // They are in sibling blocks: the entry block is before both.
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

static bool isClone(Operation *op) { return op->hasAttr(InlayDialect::kCloneAttr); }

/// Returns the attributes without those that partitioning writes.
static DictionaryAttr getUserAttributes(Operation *op) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  for (StringRef name : {InlayDialect::kCloneAttr, InlayDialect::kVerdictAttr, InlayDialect::kOrderAttr})
    attributes.erase(name);
  return attributes.getDictionary(op->getContext());
}

namespace {
/// Numbers the ops of a block so that equal ops have equal numbers. Ops are equal if they have the same name,
/// attributes and types, and if their operands are the same values or results of equal ops. Only ops with the name of a
/// clone are numbered.
class EqualOps {
public:
  explicit EqualOps(Block &block) {
    llvm::DenseSet<OperationName> names;
    for (Operation &op : block)
      if (isClone(&op))
        names.insert(op.getName());
    if (names.empty())
      return;
    for (Operation &op : block)
      if (names.contains(op.getName()) && op.getNumRegions() == 0 && (isCheapToClone(&op) || isMemoryEffectFree(&op)))
        add(&op);
  }

  ArrayRef<SmallVector<Operation *, 2>> getClasses() const { return classes; }

private:
  using Identity =
      std::pair<const void *, unsigned>; // Identity of a value: the op or class that makes it, and the result number.

  Identity identify(Value value) const {
    auto result = dyn_cast<OpResult>(value);
    auto it = result ? numbers.find(result.getOwner()) : numbers.end();
    if (it == numbers.end())
      return {value.getAsOpaquePointer(), 0};
    return {reinterpret_cast<const void *>(uintptr_t(it->second) * 2 + 1), result.getResultNumber()};
  }

  bool isEqual(Operation *a, Operation *b) const {
    return a->getName() == b->getName() && llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
           llvm::equal(a->getOperands(), b->getOperands(),
                       [&](Value x, Value y) { return identify(x) == identify(y); }) &&
           a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() &&
           getUserAttributes(a) == getUserAttributes(b);
  }

  void add(Operation *op) {
    llvm::hash_code hash = llvm::hash_combine(op->getName(), op->hashProperties());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, identify(operand));
    SmallVector<unsigned, 1> &candidates = buckets[hash];
    for (unsigned number : candidates)
      if (isEqual(op, classes[number].front())) {
        classes[number].push_back(op);
        numbers[op] = number;
        return;
      }
    numbers[op] = static_cast<unsigned>(classes.size());
    candidates.push_back(numbers[op]);
    classes.push_back({op});
  }

  llvm::DenseMap<Operation *, unsigned> numbers;
  std::unordered_map<size_t, SmallVector<unsigned, 1>> buckets;
  std::vector<SmallVector<Operation *, 2>> classes;
};
} // namespace

/// Returns the original of a clone: among the equal ops that are not clones, the one with the same location. If there
/// is none, and if no op writes the shared memory, returns the first original, or the first clone if only clones are
/// left.
static Operation *findOriginal(Operation *clone, ArrayRef<Operation *> equal, bool isWritten) {
  auto isOriginal = [](Operation *op) { return !isClone(op); };
  auto isSame = [&](Operation *op) { return isOriginal(op) && op->getLoc() == clone->getLoc(); };
  if (const auto *it = llvm::find_if(equal, isSame); it != equal.end())
    return *it;
  if (isWritten)
    return clone;
  const auto *it = llvm::find_if(equal, isOriginal);
  return it == equal.end() ? equal.front() : *it;
}

void inlay::mergeClones(Block &block, const Aliases &aliases, ChangedClones written) {
  auto isMutated = [&](Value value) { return aliases.isMutated(value); };
  EqualOps equalOps(block);
  SmallVector<Operation *> dead; // Erased at the end, since `isClone` is called on them.
  for (ArrayRef<Operation *> equal : equalOps.getClasses()) {
    Operation *first = equal.front();
    bool isWritten = llvm::any_of(first->getResults(), isMutated) || llvm::any_of(first->getOperands(), isMutated);
    if (isWritten && written == ChangedClones::KeepSeparate)
      continue;
    for (Operation *clone : equal) {
      Operation *original = isClone(clone) ? findOriginal(clone, equal, isWritten) : clone;
      if (clone == original)
        continue;
      if (clone->isBeforeInBlock(original))
        original->moveBefore(clone);
      clone->replaceAllUsesWith(original);
      dead.push_back(clone);
    }
  }
  for (Operation *clone : dead)
    clone->erase();
}
