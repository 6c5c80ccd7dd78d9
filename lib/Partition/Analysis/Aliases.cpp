// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds sets of values that may share memory, and the reads and writes of each op. EffectOrder.cpp turns these
// accesses into an order of ops.

#include "Aliases.h"
#include "OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

//===-- Unions --------------------------------------------------------------------------------------------------===//

Value Aliases::getRoot(Value value) const {
  Value root = value;
  for (auto it = parent.find(root); it != parent.end(); it = parent.find(root))
    root = it->second;
  while (value != root) { // Shortens the path for later queries.
    Value &next = parent[value];
    value = next;
    next = root;
  }
  return root;
}

void Aliases::join(Value first, Value second) {
  SmallVector<std::pair<Value, Value>> pending = {{first, second}};
  while (!pending.empty()) {
    auto [a, b] = pending.pop_back_val();
    a = getRoot(a);
    b = getRoot(b);
    if (a == b)
      continue;
    parent[a] = b;
    auto old = contents.find(a);
    if (old == contents.end())
      continue;
    Contents moved = std::move(old->second);
    contents.erase(old);
    Contents &kept = contents[b];
    if (kept.values.size() < moved.values.size())
      std::swap(kept.values, moved.values);
    llvm::append_range(kept.values, moved.values);
    if (kept.taken |= moved.taken)
      joinContents(kept, pending);
  }
}

/// Unites all elements of a collection: an element that is taken out may be any of them.
void Aliases::joinContents(Contents &held, SmallVectorImpl<std::pair<Value, Value>> &pending) {
  held.taken = true;
  for (Value element : llvm::drop_begin(held.values))
    pending.emplace_back(held.values.front(), element);
  held.values.truncate(1);
}

void Aliases::hold(Value collection, Value element) {
  if (element.getType().isIntOrIndexOrFloat())
    return;
  Contents &held = contents[getRoot(collection)];
  if (!held.taken || held.values.empty())
    held.values.push_back(element);
  else
    join(Value(held.values.front()), element);
}

void Aliases::take(Value collection, Value element) {
  if (element.getType().isIntOrIndexOrFloat())
    return;
  Contents &held = contents[getRoot(collection)];
  held.values.push_back(element);
  SmallVector<std::pair<Value, Value>> pending;
  joinContents(held, pending);
  for (auto [a, b] : pending)
    join(a, b);
}

/// Unites the elements of large collections, so that the number of accesses stays proportional to the graph. All large
/// collections are found before any of them is united, so that the result does not depend on the order of the graph.
void Aliases::joinLargeContents() {
  constexpr size_t kMaxSeparate = 16;
  while (true) {
    SmallVector<std::pair<Value, Value>> pending;
    for (auto &entry : contents) {
      Contents &held = entry.second;
      if (held.values.size() <= kMaxSeparate)
        continue;
      llvm::SmallSetVector<Value, kMaxSeparate> distinct;
      for (Value element : held.values)
        distinct.insert(getRoot(element));
      held.values.assign(distinct.begin(), distinct.end());
      if (held.values.size() > kMaxSeparate)
        joinContents(held, pending);
    }
    if (pending.empty())
      return;
    for (auto [a, b] : pending)
      join(a, b);
  }
}

/// Unites the operands of terminators with the results of the op and the next arguments of its loop.
void Aliases::joinRegions(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getRegionIterArgs()))
      join(init, argument);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>())
        continue;
      ValueRange yielded = block.back().getOperands();
      if (isa<scf::ConditionOp>(block.back())) {
        yielded = yielded.drop_front();
        for (auto [value, argument] : llvm::zip(yielded, cast<scf::WhileOp>(op).getAfterArguments()))
          join(value, argument);
      }
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
        for (auto [value, argument] : llvm::zip(yielded, loop.getRegionIterArgs()))
          join(value, argument);
      for (auto [value, result] : llvm::zip(yielded, op->getResults()))
        join(value, result);
    }
}

static bool isCollection(Value value) { return isa<ListType, ObjectType, TupleType>(value.getType()); }

/// Returns true for a buffer, and for a type of another dialect that may point into memory.
static bool isMemory(Value value) {
  return !value.getType().isIntOrIndexOrFloat() && !isCollection(value) &&
         !isa<TensorType, VectorType, ComplexType, FunctionType, NoneType>(value.getType());
}

/// Unites results with the operands that the op states as aliases, and lists and tuples with their elements.
void Aliases::joinResults(Operation *op) {
  if (std::optional<StatedEffects> stated = getStatedEffects(op))
    for (int64_t number : stated->aliases)
      for (Value result : op->getResults()) {
        Value input = op->getOperand(number);
        join(result, input);
        if (isCollection(result) && !isCollection(input))
          hold(result, input);
        else if (isCollection(input) && !isCollection(result))
          take(input, result);
      }
  switch (getCollectionUse(op)) {
  case CollectionUse::None:
    return;
  case CollectionUse::Makes:
    for (Value element : op->getOperands())
      hold(op->getResult(0), element);
    return;
  case CollectionUse::Changes:
  case CollectionUse::Reads:
    for (Value element : op->getOperands().drop_front())
      hold(op->getOperand(0), element);
    for (Value element : op->getResults())
      take(op->getOperand(0), element);
    return;
  }
}

void Aliases::joinUnknownMemory(Value value) {
  if (!unknownMemory)
    unknownMemory = value;
  join(value, unknownMemory);
}

/// Unites views with their sources, and buffers of unknown origin with each other. A buffer that an op allocates is
/// separate until another op lets it escape.
void Aliases::joinMemory(Operation *op) {
  if (isControlFlow(op))
    return;
  if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
    for (Value result : op->getResults())
      join(result, view.getViewSource());
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> effectList;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effectList);
  auto isNamed = [&](Value value) {
    return llvm::any_of(effectList, [&](auto &effect) { return effect.getValue() == value; });
  };
  auto allocates = [&](Value value) {
    return llvm::any_of(effectList, [&](auto &effect) {
      return effect.getValue() == value && isa<MemoryEffects::Allocate>(effect.getEffect());
    });
  };
  for (Value operand : op->getOperands())
    if (isMemory(operand) && !isNamed(operand) && !op->hasTrait<OpTrait::IsTerminator>())
      joinUnknownMemory(operand);
  for (Value result : op->getResults())
    if (isMemory(result) && !allocates(result))
      joinUnknownMemory(result);
}

//===-- Effects -------------------------------------------------------------------------------------------------===//

static bool changesCollection(Operation *op) { return getCollectionUse(op) == CollectionUse::Changes; }

void Aliases::noteEffects(Operation *op) {
  if (std::optional<StatedEffects> stated = getStatedEffects(op))
    effects |= stated->inOrder || !stated->writes.empty();
  else if (auto interface =
               dyn_cast<MemoryEffectOpInterface>(op)) // Linalg ops have effects besides those of nested ops.
    effects |= !interface.hasNoEffect();
  else
    effects |= mayAccessAnything(op);
}

template <typename Visit>
bool Aliases::anyMemoryOf(Value value, Visit visit) const {
  Value root = getRoot(value);
  if (!contents.contains(root))
    return visit(root);
  llvm::SmallSetVector<Value, 8> roots;
  roots.insert(root);
  for (unsigned next = 0; next < roots.size(); ++next) {
    if (visit(roots[next]))
      return true;
    if (auto held = contents.find(roots[next]); held != contents.end())
      for (Value element : held->second.values)
        roots.insert(getRoot(element));
  }
  return false;
}

void Aliases::accessAll(Value value, bool writes, SmallVectorImpl<MemoryAccess> &accesses) const {
  anyMemoryOf(value, [&](Value root) {
    if (writes || mutated.contains(root))
      accesses.push_back({root, nullptr, writes});
    return false;
  });
}

void Aliases::collectDirectAccesses(Operation *op, SmallVectorImpl<MemoryAccess> &accesses) const {
  for (Value operand : op->getOperands())
    if (!isMemory(operand))
      accessAll(operand, /*writes=*/false, accesses);
  if (std::optional<StatedEffects> stated = getStatedEffects(op)) {
    for (int64_t number : stated->writes) {
      Value input = op->getOperand(number);
      if (changesCollection(op))
        accesses.push_back({getRoot(input), nullptr, true});
      else
        accessAll(input, /*writes=*/true, accesses);
    }
    for (auto [number, input] : llvm::enumerate(op->getOperands()))
      if (isMemory(input))
        accesses.push_back({getRoot(input), SideEffects::DefaultResource::get(),
                            llvm::is_contained(stated->writes, static_cast<int64_t>(number))});
    if (stated->inOrder)
      accesses.push_back({Value(), FrameworkState::get(), true});
    return;
  }
  if (mayAccessAnything(op)) {
    accesses.push_back({Value(), nullptr, true});
    for (Value operand : op->getOperands())
      if (isCollection(operand))
        accessAll(operand, /*writes=*/true, accesses);
    return;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return;
  SmallVector<MemoryEffects::EffectInstance> effectList;
  interface.getEffects(effectList);
  for (const MemoryEffects::EffectInstance &effect : effectList) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    bool writes = !isa<MemoryEffects::Read>(effect.getEffect());
    Value value = effect.getValue();
    if (value && !isMemory(value))
      accessAll(value, writes, accesses);
    else
      accesses.push_back({value ? getRoot(value) : Value(), effect.getResource(), writes});
  }
}

void Aliases::collectAccesses(Operation *root, SmallVectorImpl<MemoryAccess> &accesses) const {
  if (root->getNumRegions() == 0)
    return collectDirectAccesses(root, accesses);
  root->walk([&](Operation *op) { collectDirectAccesses(op, accesses); });
  // Many nested ops may access the same memory.
  llvm::SmallMapVector<std::pair<Value, SideEffects::Resource *>, bool, 8> distinct;
  for (const MemoryAccess &access : accesses)
    distinct[{access.root, access.resource}] |= access.writes;
  accesses.clear();
  for (auto [memory, writes] : distinct)
    accesses.push_back({memory.first, memory.second, writes});
}

void Aliases::noteWrites(Operation *op) {
  SmallVector<MemoryAccess> accesses;
  collectDirectAccesses(op, accesses);
  for (const MemoryAccess &access : accesses)
    if (access.writes && access.root)
      mutated.insert(access.root);
}

bool Aliases::isMutated(Value value) const {
  return !mutated.empty() && anyMemoryOf(value, [&](Value root) { return mutated.contains(root); });
}

Aliases::Aliases(Operation *function) {
  function->walk([&](Operation *op) {
    if (op != function)
      noteEffects(op);
  });
  if (!effects)
    return;
  function->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isMemory(argument) && !isControlFlow(op))
            joinUnknownMemory(argument);
    if (op == function)
      return;
    if (isControlFlow(op))
      joinRegions(op);
    joinResults(op);
    joinMemory(op);
  });
  joinLargeContents();
  function->walk([&](Operation *op) {
    if (op != function)
      noteWrites(op);
  });
  llvm::DenseSet<Value> used;
  auto count = [&](Value value) {
    if (!value.use_empty() && !used.insert(getRoot(value)).second)
      shared.insert(getRoot(value));
  };
  SmallVector<Value> joined = llvm::map_to_vector(parent, [](auto &entry) { return entry.first; });
  llvm::DenseSet<Value> roots;
  for (Value value : joined) {
    count(value);
    if (roots.insert(getRoot(value)).second)
      count(getRoot(value));
  }
}
