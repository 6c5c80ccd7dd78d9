// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks and records each change that a pattern makes. Journal.cpp undoes the changes.

#include "inlay/Rewrite/GraphRewriter.h"
#include "inlay/Support/ToText.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace inlay;

GraphRewriter::GraphRewriter(MLIRContext *context, DictionaryAttr args) : PatternRewriter(context), args(args) {
  setListener(static_cast<RewriterBase::Listener *>(this));
}

void GraphRewriter::refuse(const Twine &why) {
  if (error.empty())
    error = why.str();
}

LogicalResult GraphRewriter::withReason(std::string &why, function_ref<LogicalResult()> function) {
  if (!handler)
    handler.emplace(getContext(), [this](Diagnostic &diagnostic) -> LogicalResult {
      if (!reason || std::this_thread::get_id() != thread)
        return failure();
      if (reason->empty())
        *reason = diagnostic.str();
      return success();
    });
  std::string *outer = std::exchange(reason, &why);
  thread = std::this_thread::get_id();
  LogicalResult result = function();
  reason = outer;
  return result;
}

bool inlay::isAvailable(Value value, Operation *user) {
  Block *block = value.getParentBlock();
  if (!block) // The defining op was erased.
    return false;
  Operation *op = value.getDefiningOp();
  Operation *inBlock = block->findAncestorOpInBlock(*user);
  // The last op of a block comes after all others. isBeforeInBlock would number the whole block again after each op
  // that is appended.
  if (inBlock)
    return !op || (op != inBlock && (inBlock == &block->back() || op->isBeforeInBlock(inBlock)));
  if (!block->getParentOp() || block->getParent()->hasOneBlock())
    return false;
  return DominanceInfo().properlyDominates(value, user);
}

bool GraphRewriter::mayReplace(Value from, Value to, function_ref<bool(OpOperand &)> which) {
  if (!to) {
    refuse("expected a value to replace a result with, but got none");
    return false;
  }
  if (from.getType() != to.getType()) {
    refuse("expected a value of type '" + toText(from.getType()) + "', but got '" + toText(to.getType()) + "'");
    return false;
  }
  for (OpOperand &use : from.getUses())
    if ((!which || which(use)) && !isAvailable(to, use.getOwner())) {
      refuse("expected a value that is defined before its use by '" + use.getOwner()->getName().getStringRef() +
             "', but it is defined later or in another region");
      return false;
    }
  return true;
}

void GraphRewriter::moveUses(Value from, Value to, function_ref<bool(OpOperand &)> which) {
  for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
    if (which && !which(use))
      continue;
    journal.setOperand(use, to);
    if (observer)
      observer->notifyOperationModified(use.getOwner());
  }
}

void GraphRewriter::replaceAllUsesWith(Value from, Value to) {
  if (from == to)
    return;
  // The op that defines the new value may itself use the old value. That use stays.
  auto which = [&](OpOperand &use) { return use.getOwner() != to.getDefiningOp(); };
  if (mayReplace(from, to, which))
    moveUses(from, to, which);
}

void GraphRewriter::replaceUsesWithIf(Value from, Value to, function_ref<bool(OpOperand &)> functor,
                                      bool *allUsesReplaced) {
  if (mayReplace(from, to, functor))
    moveUses(from, to, functor);
  if (allUsesReplaced)
    *allUsesReplaced = from.use_empty();
}

void GraphRewriter::replaceOp(Operation *op, ValueRange values) {
  if (values.size() != op->getNumResults())
    return refuse("expected " + Twine(op->getNumResults()) + " values for the results of '" +
                  op->getName().getStringRef() + "', but got " + Twine(values.size()));
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if ((!value || value != result) && !(result.use_empty() && !value) && !mayReplace(result, value, nullptr))
      return;
  replaceChecked(op, values);
}

void GraphRewriter::replaceChecked(Operation *op, ValueRange values) {
  if (observer)
    observer->notifyOperationReplaced(op, values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    moveUses(result, value, nullptr);
  eraseOp(op);
}

void GraphRewriter::eraseOp(Operation *op) {
  if (!isUnused(op))
    return refuse("expected no uses of the erased '" + op->getName().getStringRef() + "', but '" +
                  (*op->user_begin())->getName().getStringRef() + "' uses a result");
  if (journal.isErased(op))
    return refuse("expected an op of the graph to erase, but it was already erased");
  if (observer)
    op->walk([&](Operation *nested) { observer->notifyOperationErased(nested); });
  journal.erase(op);
}

void GraphRewriter::eraseBlock(Block *block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    eraseOp(&op);
  if (!block->empty() || !block->use_empty())
    return refuse("expected a block without uses to erase");
  if (observer)
    observer->notifyBlockErased(block);
  journal.erase(block);
}

void GraphRewriter::undoTo(Journal::Mark mark) {
  if (observer) {
    SmallVector<Operation *> made;
    for (const Journal::Entry &entry : journal.since(mark))
      if (entry.kind == Journal::Kind::Created)
        made.push_back(entry.getOp());
    for (Operation *op : llvm::reverse(made))
      observer->notifyOperationErased(op);
  }
  journal.undoTo(mark);
}

void GraphRewriter::notifyOperationInserted(Operation *op, InsertPoint previous) {
  if (previous.isSet()) {
    Block *from = previous.getBlock();
    journal.moved(op, from, previous.getPoint() == from->end() ? nullptr : &*previous.getPoint());
  } else {
    journal.created(op);
  }
  if (observer)
    observer->notifyOperationInserted(op, previous);
}

void GraphRewriter::notifyBlockInserted(Block *block, Region *previous, Region::iterator place) {
  if (previous)
    journal.movedBlock(block, previous, place == previous->end() ? nullptr : &*place);
  else
    journal.createdBlock(block);
  if (observer)
    observer->notifyBlockInserted(block, previous, place);
}

void GraphRewriter::notifyOperationModified(Operation *op) {
  if (observer)
    observer->notifyOperationModified(op);
}
