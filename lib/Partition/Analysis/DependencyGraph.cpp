// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the edges between the ops of a block from uses, changed lists and effects. EffectOrder.cpp finds the edges
// of effects. Form/SegmentPlan.cpp turns the graph into a schedule graph.

#include "DependencyGraph.h"
#include "EffectOrder.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace inlay;

static bool isConstant(Value value) {
  Operation *definer = value.getDefiningOp();
  return definer && isConstantLike(definer);
}

DependencyGraph::DependencyGraph(Block &block, const Aliases &aliases) : block(&block), aliases(&aliases) {
  Operation *terminator = !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>() ? &block.back() : nullptr;
  size_t operandCount = 0;
  for (Operation &op : block) {
    if (&op == terminator)
      continue;
    if (isConstantLike(&op)) {
      constants.push_back(&op);
      continue;
    }
    ops.push_back(&op);
    facts.push_back(findFacts(&op));
    firstResult.push_back(firstResult.back() + op.getNumResults());
    operandCount += op.getNumOperands();
  }
  numbers.reserve(size());
  for (auto [number, op] : llvm::enumerate(ops))
    numbers[op] = static_cast<unsigned>(number);
  leaves.resize(size());
  readsConstants.resize(size());
  operands.reserve(size(), operandCount);
  Edges edges;
  edges.reserve(operandCount);
  addUses(edges);
  if (terminator)
    terminator->walk([&](Operation *op) { // The terminator of scf.forall contains ops.
      for (Value value : op->getOperands())
        if (std::optional<unsigned> definer = getDefiner(value))
          leaves[*definer] = true;
    });
  if (aliases.hasEffects()) {
    findChangedLists(edges);
    addEffectOrder(edges);
  }
  predecessors = CompactLists<unsigned>::group(size(), edges);
}

void DependencyGraph::addUses(Edges &edges) {
  llvm::SmallSetVector<Value, 8> used;
  llvm::SetVector<Value> captured;
  for (auto [number, op] : llvm::enumerate(ops)) {
    used.clear();
    used.insert(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() > 0) {
      captured.clear();
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      used.insert(captured.begin(), captured.end());
    }
    for (Value value : used) {
      std::optional<unsigned> definer = getDefiner(value);
      if (!definer && isConstant(value)) {
        readsConstants[number] = true;
        continue;
      }
      operands.add({value, definer});
      if (definer)
        edges.emplace_back(number, *definer);
    }
    operands.end();
  }
}

std::optional<unsigned> DependencyGraph::getDefiner(Value value) const {
  auto it = numbers.find(value.getDefiningOp());
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

std::optional<unsigned> DependencyGraph::getChangedList(unsigned op) const {
  auto it = listOf.find(op);
  return it == listOf.end() ? std::nullopt : std::optional(it->second);
}

std::optional<unsigned> DependencyGraph::getSource(unsigned op, const Operand &operand) const {
  std::optional<unsigned> definer = operand.definer;
  if (!definer || listOf.empty())
    return definer;
  auto it = listOf.find(*definer);
  if (it == listOf.end())
    return definer;
  ArrayRef<unsigned> changes = lists[it->second].changes;
  const unsigned *next = llvm::lower_bound(changes, op);
  return next == changes.begin() ? *definer : *std::prev(next);
}

//===-- Changed lists -------------------------------------------------------------------------------------------===//

static bool changes(Operation *op, Value list) {
  return getCollectionUse(op) == CollectionUse::Changes && op->getOperand(0) == list;
}

/// Returns true if the op reads the list and keeps no reference to it.
static bool onlyReads(Operation *op, Value list) {
  if (op->getNumRegions() > 0 || mayAccessAnything(op) || getCollectionUse(op) == CollectionUse::Makes ||
      getCollectionUse(op) == CollectionUse::Changes)
    return false;
  std::optional<StatedEffects> stated = getStatedEffects(op);
  return !stated || llvm::none_of(stated->writes, [&](int64_t number) { return op->getOperand(number) == list; });
}

bool DependencyGraph::isChangedList(unsigned maker) const {
  Operation *op = ops[maker];
  if (op->getNumResults() != 1 || leaves[maker] || mayCrossBorder(op->getResult(0).getType()) || !isCheapToClone(op))
    return false;
  Value list = op->getResult(0);
  bool isChanged = false;
  for (OpOperand &use : list.getUses()) {
    Operation *user = use.getOwner();
    bool isChange = use.getOperandNumber() == 0 && changes(user, list) && user->use_empty();
    isChanged |= isChange;
    if (user->getBlock() != block || !(isChange || onlyReads(user, list)))
      return false;
  }
  return isChanged && aliases->isAlone(list);
}

void DependencyGraph::addChangedList(unsigned maker, Edges &edges) {
  Value value = ops[maker]->getResult(0);
  ChangedList list{maker, {}, {}};
  SmallVector<unsigned> users;
  for (Operation *user : value.getUsers())
    users.push_back(numbers.lookup(user));
  llvm::sort(users);
  users.erase(llvm::unique(users), users.end());
  SmallVector<unsigned> readers;
  std::optional<unsigned> last;
  for (unsigned user : users) {
    if (last)
      edges.emplace_back(user, *last);
    if (!changes(ops[user], value)) {
      readers.push_back(user);
      continue;
    }
    for (unsigned reader : readers)
      list.readersBefore.emplace_back(reader, user);
    readers.clear();
    last = user;
    list.changes.push_back(user);
    listOf[user] = static_cast<unsigned>(lists.size());
  }
  listOf[maker] = static_cast<unsigned>(lists.size());
  listRoots.insert(aliases->getRoot(value));
  lists.push_back(std::move(list));
}

void DependencyGraph::findChangedLists(Edges &edges) {
  for (unsigned op = 0; op < size(); ++op)
    if (isChangedList(op))
      addChangedList(op, edges);
}

//===-- The order of effects ------------------------------------------------------------------------------------===//

void DependencyGraph::addEffectOrder(Edges &edges) {
  EffectOrder order;
  SmallVector<MemoryAccess> accesses;
  for (auto [number, op] : llvm::enumerate(ops)) {
    accesses.clear();
    aliases->collectAccesses(op, accesses);
    llvm::erase_if(accesses,
                   [&](const MemoryAccess &access) { return access.root && listRoots.contains(access.root); });
    order.add(static_cast<unsigned>(number), accesses,
              [&, number = number](unsigned before) { edges.emplace_back(number, before); });
  }
}
