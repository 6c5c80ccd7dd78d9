// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Rewrite/Journal.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

using namespace mlir;
using namespace inlay;

void Journal::moved(Operation *op, Block *from, Operation *next) {
  entries.push_back({Kind::Moved, 0, op, from, next});
}

void Journal::modifying(Operation *op) {
  Snapshot snapshot{op->getPropertiesAsAttribute(), op->getDiscardableAttrDictionary(), op->getLoc(), {}, {}};
  llvm::append_range(snapshot.operands, op->getOperands());
  llvm::append_range(snapshot.resultTypes, op->getResultTypes());
  snapshots.push_back(std::move(snapshot));
  entries.push_back({Kind::Modified, static_cast<unsigned>(snapshots.size() - 1), op, nullptr, nullptr});
}

void Journal::setOperand(OpOperand &operand, Value value) {
  entries.push_back(
      {Kind::Operand, operand.getOperandNumber(), operand.getOwner(), operand.get().getAsOpaquePointer(), nullptr});
  operand.set(value);
}

void Journal::erase(Operation *op) {
  if (leaving)
    leaving(op);
  auto dropOperands = [&](Operation *user) {
    for (OpOperand &operand : user->getOpOperands()) {
      entries.push_back({Kind::Operand, operand.getOperandNumber(), user, operand.get().getAsOpaquePointer(), nullptr});
      operand.drop();
    }
  };
  if (op->getNumRegions() == 0) {
    dropOperands(op);
  } else {
    op->walk([&](Operation *nested) {
      dropOperands(nested);
      if (nested != op)
        nestedErased.insert(nested);
    });
  }
  entries.push_back({Kind::Erased, 0, op, op->getBlock(), op->getNextNode()});
  op->remove();
}

void Journal::erase(Block *block) {
  Region *region = block->getParent();
  entries.push_back({Kind::BlockErased, 0, block, region, block->getNextNode()});
  region->getBlocks().remove(block);
}

static void place(Operation *op, void *block, void *next) {
  auto *into = static_cast<Block *>(block);
  into->getOperations().insert(next ? Block::iterator(static_cast<Operation *>(next)) : into->end(), op);
}

void Journal::restore(Operation *op, const Snapshot &snapshot) {
  op->setOperands(snapshot.operands);
  if (snapshot.properties)
    (void)op->setPropertiesFromAttribute(snapshot.properties, nullptr);
  op->setDiscardableAttrs(snapshot.attributes);
  op->setLoc(Location(snapshot.loc));
  for (auto [result, type] : llvm::zip_equal(op->getResults(), snapshot.resultTypes))
    result.setType(type);
}

void Journal::undo(const Entry &entry) {
  Operation *op = entry.getOp();
  auto *block = static_cast<Block *>(entry.subject); // in the last cases
  switch (entry.kind) {
  case Kind::Created:
    if (leaving)
      leaving(op);
    if (freeing)
      freeing(op);
    op->dropAllUses();
    op->erase();
    return;
  case Kind::Erased:
    place(op, entry.place, entry.next);
    if (op->getNumRegions() != 0)
      op->walk([&](Operation *nested) { nestedErased.erase(nested); });
    return;
  case Kind::Moved:
    op->remove();
    place(op, entry.place, entry.next);
    return;
  case Kind::Operand:
    op->setOperand(entry.number, Value::getFromOpaquePointer(entry.place));
    return;
  case Kind::Modified:
    restore(op, snapshots[entry.number]);
    snapshots.resize(entry.number);
    return;
  case Kind::BlockCreated:
    block->erase();
    return;
  case Kind::ArgumentAdded:
    block->getArguments().back().dropAllUses();
    block->eraseArgument(block->getNumArguments() - 1);
    return;
  case Kind::BlockMoved:
    block->getParent()->getBlocks().remove(block);
    [[fallthrough]];
  case Kind::BlockErased: {
    auto *region = static_cast<Region *>(entry.place);
    region->getBlocks().insert(entry.next ? Region::iterator(static_cast<Block *>(entry.next)) : region->end(), block);
    return;
  }
  }
}

void Journal::undoTo(Mark mark) {
  while (entries.size() > mark) {
    Entry entry = entries.back();
    entries.pop_back();
    undo(entry);
  }
}

void Journal::commit() {
  // Erased ops use nothing any more; one of them may hold a block that another was erased from.
  for (const Entry &entry : entries)
    if (entry.kind == Kind::Erased) {
      if (freeing)
        freeing(entry.getOp());
      entry.getOp()->destroy();
    }
  for (const Entry &entry : entries)
    if (entry.kind == Kind::BlockErased)
      delete static_cast<Block *>(entry.subject);
  entries.clear();
  snapshots.clear();
  nestedErased.clear();
}
