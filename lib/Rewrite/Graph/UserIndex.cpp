// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the users of a value by their op name. Driver/PatternIndex.cpp finds patterns by op name.

#include "UserIndex.h"

#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace inlay;

UserIndex::Users *UserIndex::get(Value value, const void *name) {
  auto it = index.find({value, name});
  if (it == index.end()) {
    unsigned count = 0;
    for (auto use = value.use_begin(); use != value.use_end() && count <= kMany; ++use)
      ++count;
    if (count <= kMany)
      return nullptr;
    it = index.try_emplace({value, name}).first;
    names.insert(name);
    for (OpOperand &use : value.getUses())
      if (use.getOwner()->getName().getAsOpaquePointer() == name)
        it->second.uses.push_back({use.getOwner(), use.getOperandNumber()});
    std::reverse(it->second.uses.begin(), it->second.uses.end()); // Oldest use first.
  }
  Users &users = it->second;
  while (users.first < users.uses.size()) {
    auto [op, operand] = users.uses[users.first];
    if (op->getBlock() && operand < op->getNumOperands() && op->getOperand(operand) == value)
      break;
    ++users.first;
  }
  return &users;
}

void UserIndex::forget(const Journal::Changes &changes) {
  for (const Journal::Entry &entry : changes) {
    Operation *op = entry.getOp();
    if (op && op->getBlock() && names.contains(op->getName().getAsOpaquePointer())) {
      index.clear();
      return;
    }
  }
}
