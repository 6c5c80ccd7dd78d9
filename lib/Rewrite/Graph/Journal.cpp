// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records changes of a graph, undoes them, and frees erased ops at the end. GraphRewriter.cpp reports the changes to
// it.

#include "inlay/Rewrite/Journal.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

using namespace mlir;
using namespace inlay;

void Journal::moved(Operation *op, Block *from, Operation *next) { add(Kind::Moved, 0, op, from, next); }

void Journal::modifying(Operation *op) {
  Snapshot snapshot{op->getPropertiesAsAttribute(), op->getDiscardableAttrDictionary(), op->getLoc(), {}, {}};
  llvm::append_range(snapshot.operands, op->getOperands());
  llvm::append_range(snapshot.resultTypes, op->getResultTypes());
  snapshots.push_back(std::move(snapshot));
  add(Kind::Modified, static_cast<unsigned>(snapshots.size() - 1), op, nullptr, nullptr);
}

void Journal::setOperand(OpOperand &operand, Value value) {
  add(Kind::Operand, operand.getOperandNumber(), operand.getOwner(), operand.get().getAsOpaquePointer(), nullptr);
  operand.set(value);
}

namespace {
/// Removes an operand from the use list of its value but keeps the value. Otherwise the journal would need an entry for
/// each operand of an erased op.
struct Unlinked : detail::IROperandBase {
  static void unlink(OpOperand &operand) {
    constexpr auto drop = &Unlinked::drop;
    (operand.*drop)();
  }
};
} // namespace

void Journal::erase(Operation *op) {
  if (leaving)
    leaving(op);
  forEachOperand(op, Unlinked::unlink);
  if (op->getNumRegions() != 0)
    op->walk([&](Operation *nested) {
      if (nested != op)
        nestedErased.insert(nested);
    });
  add(Kind::Erased, 0, op, op->getBlock(), op->getNextNode());
  op->remove();
}

void Journal::erase(Block *block) {
  Region *region = block->getParent();
  add(Kind::BlockErased, 0, block, region, block->getNextNode());
  erasesBlocks = true;
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
  auto *block = static_cast<Block *>(entry.subject); // Only valid for entries about blocks.
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
    forEachOperand(op, [](OpOperand &operand) { operand.set(operand.get()); });
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
  while (count > mark)
    undo((*this)[--count]);
}

/// Prefetches the memory of an op with a few operands: its results are in front of it, its operands behind it.
static void prefetch(const void *op) {
  constexpr int kLine = 64;
  for (int line = -1; line <= 2; ++line)
    __builtin_prefetch(static_cast<const char *>(op) + line * kLine);
}

void Journal::destroyErased() {
  // Later ops are prefetched while earlier ones are freed, because they are far apart in memory.
  constexpr size_t kAhead = 12;
  for (size_t i = 0; i < count; ++i) {
    if (const Entry *later = i + kAhead < count ? &(*this)[i + kAhead] : nullptr; later && later->kind == Kind::Erased)
      prefetch(later->subject);
    const Entry &entry = (*this)[i];
    if (entry.kind != Kind::Erased)
      continue;
    if (freeing)
      freeing(entry.getOp());
    entry.getOp()->destroy();
  }
}

void Journal::commit() {
  // Ops are freed before blocks, because an erased op may contain a block from which another op was erased.
  destroyErased();
  if (erasesBlocks)
    for (const Entry &entry : since(0))
      if (entry.kind == Kind::BlockErased)
        delete static_cast<Block *>(entry.subject);
  erasesBlocks = false;
  chunks.clear();
  count = 0;
  snapshots.clear();
  nestedErased.clear();
}
