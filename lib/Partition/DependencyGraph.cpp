// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/DependencyGraph.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/OpKinds.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace inlay;

static bool isConstant(Value value) {
  Operation *definer = value.getDefiningOp();
  return definer && isConstantLike(definer);
}

DependencyGraph::DependencyGraph(Block &block, const Aliases &aliases) : block(&block), aliases(&aliases) {
  Operation *terminator = !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>() ? &block.back() : nullptr;
  for (Operation &op : block)
    if (&op != terminator && !isConstantLike(&op)) {
      numbers[&op] = size();
      ops.push_back(&op);
    }
  operands.resize(size());
  predecessors.resize(size());
  leaves.resize(size());
  llvm::SetVector<Value> used;
  for (auto [number, op] : llvm::enumerate(ops)) {
    used.clear();
    used.insert(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() > 0)
      getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used) {
      if (isConstant(value))
        continue;
      operands[number].push_back(value);
      if (std::optional<unsigned> definer = getDefiner(value))
        predecessors[number].push_back(*definer);
    }
  }
  if (terminator)
    for (Value value : terminator->getOperands())
      if (std::optional<unsigned> definer = getDefiner(value))
        leaves[*definer] = true;
  if (aliases.hasEffects())
    addEffectOrder();
  for (auto &list : predecessors) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }
}

std::optional<unsigned> DependencyGraph::getDefiner(Value value) const {
  auto it = numbers.find(value.getDefiningOp());
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

//===-- The order of effects ------------------------------------------------------------------------------------===//

namespace {
/// What an op with all that is nested in it touches, and whether it writes that. The null value stands for all memory
/// that no op states its effects on.
using Touched = llvm::SmallMapVector<Value, bool, 4>;

struct LastTouch {
  std::optional<unsigned> writer;
  SmallVector<unsigned, 4> readers; ///< since that writer
};
} // namespace

static void touchMemory(Operation *op, const Aliases &aliases, Touched &touched) {
  if (mayTouchAnything(op)) {
    touched[Value()] = true;
    for (Value operand : op->getOperands())
      if (!mayCrossBorder(operand.getType()))
        touched[aliases.getRoot(operand)] = true;
    return;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    touched[Value()] |= !isa<MemoryEffects::Read>(effect.getEffect());
}

static void collectTouched(Operation *root, const Aliases &aliases, Touched &touched) {
  root->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (aliases.isMutated(operand))
        touched.insert({aliases.getRoot(operand), false});
    std::optional<StatedEffects> stated = getStatedEffects(op);
    if (!stated)
      return touchMemory(op, aliases, touched);
    // Upstream's effects on buffers are all on the null value, so what is stated of a buffer counts there as well.
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
      touched.insert({Value(), false});
    for (int64_t number : stated->writes) {
      touched[aliases.getRoot(op->getOperand(number))] = true;
      if (isa<BaseMemRefType>(op->getOperand(number).getType()))
        touched[Value()] = true;
    }
  });
}

void DependencyGraph::addEffectOrder() {
  llvm::DenseMap<Value, LastTouch> last;
  Touched touched;
  for (auto [number, op] : llvm::enumerate(ops)) {
    touched.clear();
    collectTouched(op, *aliases, touched);
    for (auto [value, writes] : touched) {
      LastTouch &touch = last[value];
      if (touch.writer)
        predecessors[number].push_back(*touch.writer);
      if (!writes) {
        touch.readers.push_back(number);
        continue;
      }
      predecessors[number].append(touch.readers.begin(), touch.readers.end());
      touch.readers.clear();
      touch.writer = number;
    }
  }
}
