// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check that effects are in the order of `inlay.order`. It is computed independently on the segments: the values
// that share memory across the borders of segments, and the last read and write of each piece of memory.

#include "VerifyParts.h"

#include "Partition/Analysis/OpKinds.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace inlay;

static bool isCollectionType(Type type) { return isa<ListType, TupleType, ObjectType>(type); }

static bool isBuffer(Value value) {
  Type type = value.getType();
  return !isa<TensorType, VectorType, ComplexType, FunctionType, NoneType>(type) && !type.isIntOrIndexOrFloat() &&
         !isCollectionType(type);
}

static bool maySeeAnything(Operation *op) {
  return !isa<MemoryEffectOpInterface>(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

namespace {
/// Sets of values that share memory.
class Memory {
public:
  explicit Memory(FunctionOpInterface function) {
    for (Value argument : function.getArguments())
      if (isBuffer(argument))
        unite(argument, anyBuffer(argument));
    function->walk([&](Operation *op) {
      if (op != function)
        uniteAcross(op);
    });
    mixLargeCollections();
  }

  Value find(Value value) {
    SmallVector<Value, 4> path;
    for (auto it = leaders.find(value); it != leaders.end(); it = leaders.find(value)) {
      path.push_back(value);
      value = it->second;
    }
    for (Value passed : path)
      leaders[passed] = value;
    return value;
  }

  /// Returns the memory of a value, of its elements, of their elements and so on.
  llvm::SmallSetVector<Value, 4> findAll(Value value) {
    llvm::SmallSetVector<Value, 4> all;
    all.insert(find(value));
    for (unsigned i = 0; i < all.size(); ++i)
      if (auto it = held.find(all[i]); it != held.end())
        for (Value part : it->second.parts)
          all.insert(find(part));
    return all;
  }

private:
  /// The elements of a collection. Once an element was taken out, all elements count as one piece of memory.
  struct Held {
    SmallVector<Value, 1> parts;
    bool mixed = false;
  };

  Value anyBuffer(Value value) { return buffer ? buffer : buffer = value; }

  void unite(Value a, Value b) {
    waiting.emplace_back(a, b);
    while (!waiting.empty()) {
      std::tie(a, b) = waiting.pop_back_val();
      a = find(a);
      b = find(b);
      if (a == b)
        continue;
      leaders[b] = a;
      auto it = held.find(b);
      if (it == held.end())
        continue;
      Held other = std::move(it->second);
      held.erase(it);
      Held &all = held[a];
      if (all.parts.size() < other.parts.size())
        std::swap(all.parts, other.parts);
      all.parts.append(other.parts);
      if (all.mixed || other.mixed)
        mix(all);
    }
  }

  /// Marks the elements as one piece of memory. `unite` handles the pairs that this appends to `waiting`.
  void mix(Held &collection) {
    collection.mixed = true;
    for (Value part : llvm::drop_begin(collection.parts))
      waiting.emplace_back(collection.parts.front(), part);
    collection.parts.truncate(1);
  }

  void put(Value collection, Value element) {
    if (element.getType().isIntOrIndexOrFloat())
      return;
    Held &it = held[find(collection)];
    it.parts.push_back(element);
    if (it.mixed)
      mix(it);
    unite(element, element);
  }

  void takeOut(Value collection, Value element) {
    if (element.getType().isIntOrIndexOrFloat())
      return;
    Held &it = held[find(collection)];
    it.parts.push_back(element);
    mix(it);
    unite(element, element);
  }

  /// Treats collections of very many elements as mixed, so that the work stays proportional to the graph.
  void mixLargeCollections() {
    constexpr unsigned kMaxParts = 64;
    do {
      for (auto &[collection, it] : held) {
        if (it.parts.size() <= kMaxParts)
          continue;
        for (Value &part : it.parts)
          part = find(part);
        llvm::SmallSetVector<Value, 32> distinct(it.parts.begin(), it.parts.end());
        it.parts.assign(distinct.begin(), distinct.end());
        if (it.parts.size() > kMaxParts)
          mix(it);
      }
      if (waiting.empty())
        return;
      auto [a, b] = waiting.back();
      unite(a, b);
    } while (true);
  }

  void uniteEach(ValueRange a, ValueRange b) {
    for (auto [x, y] : llvm::zip(a, b))
      unite(x, y);
  }

  void uniteAcross(Operation *op) {
    if (auto segment = dyn_cast<SegmentOp>(op)) {
      uniteEach(segment.getInputs(), segment.getBody().getArguments());
      uniteEach(segment.getResults(), segment.getBody().front().getTerminator()->getOperands());
    } else if (isControlFlow(op)) {
      uniteRegions(op);
    } else {
      uniteCollections(op);
      uniteBuffers(op);
    }
  }

  void uniteRegions(Operation *op) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (loop)
      uniteEach(loop.getInits(), loop.getRegionIterArgs());
    for (Region &region : op->getRegions()) {
      if (region.empty() || region.front().empty())
        continue;
      Operation *last = &region.front().back();
      if (auto condition = dyn_cast<scf::ConditionOp>(last)) {
        uniteEach(condition.getArgs(), cast<scf::WhileOp>(op).getAfterArguments());
        uniteEach(condition.getArgs(), op->getResults());
      } else if (last->hasTrait<OpTrait::IsTerminator>()) {
        if (loop)
          uniteEach(last->getOperands(), loop.getRegionIterArgs());
        uniteEach(last->getOperands(), op->getResults());
      }
    }
  }

  void uniteAlias(Value result, Value operand) {
    unite(result, operand);
    bool makes = isCollectionType(result.getType()), reads = isCollectionType(operand.getType());
    if (makes && !reads)
      put(result, operand);
    else if (reads && !makes)
      takeOut(operand, result);
  }

  void uniteCollections(Operation *op) {
    if (std::optional<StatedEffects> stated = getStatedEffects(op))
      for (int64_t number : stated->aliases)
        for (Value result : op->getResults())
          uniteAlias(result, op->getOperand(static_cast<unsigned>(number)));
    CollectionUse use = getCollectionUse(op);
    if (use == CollectionUse::None)
      return;
    bool makes = use == CollectionUse::Makes;
    Value collection = makes ? op->getResult(0) : op->getOperand(0);
    for (Value element : op->getOperands().drop_front(!makes))
      put(collection, element);
    for (Value element : op->getResults().drop_front(makes))
      takeOut(collection, element);
  }

  void uniteBuffers(Operation *op) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      for (Value result : op->getResults())
        unite(result, view.getViewSource());
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
      interface.getEffects(effects);
    auto hasKnownOrigin = [&](Value value, bool made) {
      return llvm::any_of(effects, [&](MemoryEffects::EffectInstance &effect) {
        return effect.getValue() == value && (!made || isa<MemoryEffects::Allocate>(effect.getEffect()));
      });
    };
    if (!op->hasTrait<OpTrait::IsTerminator>())
      for (Value operand : op->getOperands())
        if (isBuffer(operand) && !hasKnownOrigin(operand, false))
          unite(operand, anyBuffer(operand));
    for (Value result : op->getResults())
      if (isBuffer(result) && !hasKnownOrigin(result, true))
        unite(result, anyBuffer(result));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isBuffer(argument))
            unite(argument, anyBuffer(argument));
  }

  llvm::DenseMap<Value, Value> leaders;
  llvm::DenseMap<Value, Held> held;
  SmallVector<std::pair<Value, Value>> waiting; ///< Pairs to unite.
  Value buffer;                                 ///< Some buffer of unknown origin.
};

/// The latest ops, by `inlay.order`, that read and wrote a piece of memory.
struct Latest {
  std::pair<int64_t, Operation *> read{-1, nullptr}, write{-1, nullptr};
};

class EffectChecker {
public:
  explicit EffectChecker(FunctionOpInterface function) : memory(function) {
    function->walk([&](Operation *op) { findWritten(op); });
  }

  LogicalResult check(Operation *op) {
    auto isWritten = [&](Value result) { return overwritten.contains(memory.find(result)); };
    if (op->hasAttr(InlayDialect::kCloneAttr) && llvm::any_of(op->getResults(), isWritten))
      return op->emitOpError("expected a clone whose result no op writes, but an op writes it");
    auto order = op->getAttrOfType<IntegerAttr>(InlayDialect::kOrderAttr);
    if (!order)
      return success();
    number = order.getInt();
    misplacedOp = nullptr;
    visitAccesses(op, [&](Value value, SideEffects::Resource *resource, bool writes) {
      if (value && !resource && !writes && !written.contains(value))
        return;
      access(op, value, resource, writes);
    });
    if (!misplacedOp)
      return success();
    InFlightDiagnostic diag = op->emitOpError("expected effects in the order of the program, but an op that must run "
                                              "after this one runs before it");
    diag.attachNote(misplacedOp->getLoc()) << "other op here";
    return diag;
  }

private:
  template <typename Visit>
  void visitAccesses(Operation *op, Visit visit) {
    for (Value operand : op->getOperands())
      if (!isBuffer(operand))
        for (Value value : memory.findAll(operand))
          visit(value, nullptr, false);
    if (std::optional<StatedEffects> stated = getStatedEffects(op)) {
      for (auto [at, operand] : llvm::enumerate(op->getOperands()))
        if (bool isWritten = llvm::is_contained(stated->writes, static_cast<int64_t>(at)); isBuffer(operand))
          visit(memory.find(operand), SideEffects::DefaultResource::get(), isWritten);
        else if (isWritten)
          for (Value value : memory.findAll(operand)) {
            visit(value, nullptr, true);
            if (getCollectionUse(op) == CollectionUse::Changes)
              break;
          }
      if (stated->inOrder)
        visit(Value(), FrameworkState::get(), true);
      return;
    }
    if (maySeeAnything(op)) {
      visit(Value(), nullptr, true);
      for (Value operand : op->getOperands())
        if (isCollectionType(operand.getType()))
          for (Value value : memory.findAll(operand))
            visit(value, nullptr, true);
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
      interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool writes = !isa<MemoryEffects::Read>(effect.getEffect());
      Value value = effect.getValue();
      if (isa<MemoryEffects::Allocate>(effect.getEffect()))
        continue;
      if (value && !isBuffer(value))
        for (Value at : memory.findAll(value))
          visit(at, nullptr, writes);
      else
        visit(value ? memory.find(value) : value, effect.getResource(), writes);
    }
  }

  void findWritten(Operation *op) {
    if (!isa<SegmentOp>(op) && !isControlFlow(op))
      visitAccesses(op, [&](Value value, SideEffects::Resource *, bool writes) {
        if (writes && value) {
          written.insert(value);
          if (getCollectionUse(op) != CollectionUse::Changes)
            overwritten.insert(value);
        }
      });
  }

  void expectAfter(const std::pair<int64_t, Operation *> &other) {
    if (other.first > number)
      misplacedOp = other.second;
  }

  void compare(const Latest &latest, bool writes) {
    expectAfter(latest.write);
    if (writes)
      expectAfter(latest.read);
  }

  void note(Operation *op, Latest &latest, bool writes) {
    std::pair<int64_t, Operation *> &at = writes ? latest.write : latest.read;
    if (at.first < number)
      at = {number, op};
  }

  void access(Operation *op, Value value, SideEffects::Resource *resource, bool writes) {
    if (value) {
      compare(values[value], writes);
      note(op, values[value], writes);
      if (!resource)
        return;
      compare(wholes[resource], writes);
      note(op, parts[resource], writes);
    } else if (resource) {
      compare(wholes[resource], writes);
      compare(parts[resource], writes);
      note(op, wholes[resource], writes);
    } else {
      compare(all, /*writes=*/true);
    }
    if (value || resource)
      expectAfter(everything.write);
    else
      note(op, everything, true);
    note(op, all, writes);
  }

  Memory memory;
  llvm::DenseSet<Value> written,
      overwritten; ///< Memory that is written, and memory that is written other than by changes of a list.
  llvm::DenseMap<Value, Latest> values;
  /// By resource: the accesses to the whole resource, and to values in it.
  llvm::DenseMap<SideEffects::Resource *, Latest> wholes, parts;
  Latest everything, all; ///< Ops that may access any memory, and ops that access any memory at all.
  int64_t number = 0;
  Operation *misplacedOp = nullptr;
};
} // namespace

static bool mayWrite(Operation *op) {
  if (isa<SegmentOp>(op) || isControlFlow(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (std::optional<StatedEffects> stated = getStatedEffects(op))
    return stated->inOrder || !stated->writes.empty();
  if (maySeeAnything(op))
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  return llvm::any_of(effects, [](auto &effect) { return !isa<MemoryEffects::Read>(effect.getEffect()); });
}

LogicalResult inlay::verifyEffects(FunctionOpInterface function) {
  WalkResult writes = function->walk(
      [&](Operation *op) { return op != function && mayWrite(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (!writes.wasInterrupted())
    return success(); // Memory that no op writes may be read in any order.
  EffectChecker checker(function);
  WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return op == function || succeeded(checker.check(op)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
