// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Partition/DependencyGraph.h"
#include "inlay/Partition/OpKinds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace inlay;

Value Aliases::getRoot(Value value) const {
  Value root = value;
  for (auto it = parent.find(root); it != parent.end(); it = parent.find(root))
    root = it->second;
  while (value != root) { // halves the way for the next question
    Value &next = parent[value];
    value = next;
    next = root;
  }
  return root;
}

void Aliases::join(Value a, Value b) {
  a = getRoot(a);
  b = getRoot(b);
  if (a != b)
    parent[a] = b;
}

/// What a terminator yields may be what the op returns or the loop's next argument.
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

/// Beside those of nested ops: linalg on buffers has both.
static bool hasOwnEffects(Operation *op) {
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    return !interface.hasNoEffect();
  return mayTouchAnything(op);
}

Aliases::Aliases(Operation *function) {
  SmallVector<std::pair<Operation *, StatedEffects>> stated;
  SmallVector<Operation *> unknown;
  function->walk([&](Operation *op) {
    if (op == function)
      return;
    if (std::optional<StatedEffects> known = getStatedEffects(op)) {
      stated.emplace_back(op, *known);
      effects |= !known->writes.empty();
      return;
    }
    if (mayTouchAnything(op))
      unknown.push_back(op);
    effects |= hasOwnEffects(op);
  });
  if (!effects)
    return;
  for (auto &[op, known] : stated)
    for (int64_t number : known.aliases)
      for (Value result : op->getResults())
        join(result, op->getOperand(number));
  function->walk([&](Operation *op) {
    if (isControlFlow(op))
      joinRegions(op);
  });
  for (auto &[op, known] : stated)
    for (int64_t number : known.writes)
      mutated.insert(getRoot(op->getOperand(number)));
  for (Operation *op : unknown)
    for (Value operand : op->getOperands())
      if (!mayCrossBorder(operand.getType()))
        mutated.insert(getRoot(operand));
}
