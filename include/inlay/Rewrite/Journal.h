// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The journal of the changes that rewriting made to a graph. It undoes the changes of a rewrite that fails and of a run
// that does not terminate. Erased ops keep their memory until the journal is committed.

#ifndef INLAY_REWRITE_JOURNAL_H
#define INLAY_REWRITE_JOURNAL_H

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <functional>
#include <memory>

namespace inlay {

/// Calls `visit` for each operand of `op` and of the ops nested in it.
template <typename Visit>
void forEachOperand(mlir::Operation *op, Visit visit) {
  if (op->getNumRegions() != 0)
    op->walk([&](mlir::Operation *nested) { llvm::for_each(nested->getOpOperands(), visit); });
  else
    llvm::for_each(op->getOpOperands(), visit);
}

class Journal {
public:
  enum class Kind : uint8_t {
    Created,
    Erased,
    Moved,
    Operand,
    Modified,
    BlockCreated,
    BlockMoved,
    BlockErased,
    ArgumentAdded
  };

  struct Entry {
    Kind kind;
    unsigned number; ///< Number of the operand or of the snapshot.
    void *subject;   ///< Op or block that the change is about.
    void *place;     ///< Previous parent block (for a block: region), or the operand's previous value.
    void *next;      ///< Op (for a block: block) that followed it; null at the end.

    /// Returns true if the op was created or modified in place.
    bool isMade() const { return kind == Kind::Created || kind == Kind::Modified; }

    /// Returns the op that the entry is about, or null if it is about a block.
    mlir::Operation *getOp() const {
      return kind >= Kind::BlockCreated ? nullptr : static_cast<mlir::Operation *>(subject);
    }
  };

  using Mark = size_t;

  /// The changes since a mark, in order.
  class Changes {
  public:
    struct Iterator : llvm::iterator_facade_base<Iterator, std::forward_iterator_tag, const Entry> {
      Iterator(const Journal &journal, Mark number) : journal(&journal), number(number) {}
      bool operator==(const Iterator &other) const { return number == other.number; }
      const Entry &operator*() const { return (*journal)[number]; }
      Iterator &operator++() { return ++number, *this; }

      const Journal *journal;
      Mark number;
    };

    Changes(const Journal &journal, Mark from) : first(journal, from), last(journal, journal.mark()) {}
    Iterator begin() const { return first; }
    Iterator end() const { return last; }

  private:
    Iterator first, last;
  };

  ~Journal() { commit(); }

  Mark mark() const { return count; }
  const Entry &operator[](Mark number) const { return chunks[number / kChunk][number % kChunk]; }
  Changes since(Mark mark) const { return {*this, mark}; }

  /// Calls `visit` with each value that lost a use by the change.
  template <typename Visit>
  static void forEachReleased(const Entry &entry, Visit visit) {
    if (entry.kind == Kind::Operand)
      visit(mlir::Value::getFromOpaquePointer(entry.place));
    else if (entry.kind == Kind::Erased)
      forEachOperand(entry.getOp(), [&](mlir::OpOperand &operand) { visit(operand.get()); });
  }

  /// Undoes all changes since `mark`.
  void undoTo(Mark mark);

  /// Makes all changes final and frees the erased ops and blocks.
  void commit();

  void created(mlir::Operation *op) { add(Kind::Created, 0, op, nullptr, nullptr); }
  void moved(mlir::Operation *op, mlir::Block *from, mlir::Operation *next);
  void createdBlock(mlir::Block *block) { add(Kind::BlockCreated, 0, block, nullptr, nullptr); }

  void movedBlock(mlir::Block *block, mlir::Region *from, mlir::Block *next) {
    add(Kind::BlockMoved, 0, block, from, next);
  }

  /// Stores the operands, attributes, result types and location of an op that is about to be modified in place.
  void modifying(mlir::Operation *op);

  /// Records that `block` got another argument at the end of its list.
  void addedArgument(mlir::Block *block) { add(Kind::ArgumentAdded, 0, block, nullptr, nullptr); }

  void setOperand(mlir::OpOperand &operand, mlir::Value value);

  /// Removes `op` and the ops nested in it from the graph. Its results must have no uses.
  void erase(mlir::Operation *op);

  /// Removes an empty block without predecessors from its region.
  void erase(mlir::Block *block);

  /// Returns true if `op` is no longer in the graph. Valid for every op that was in the graph since the last commit.
  bool isErased(mlir::Operation *op) const {
    return !op->getBlock() || (!nestedErased.empty() && nestedErased.contains(op));
  }

  /// Called before an op leaves the graph, either because it is erased or because its creation is undone.
  std::function<void(mlir::Operation *)> leaving;

  /// Called before the memory of an op and of the ops nested in it is freed. Code that keeps pointers to ops beyond a
  /// run drops them here.
  std::function<void(mlir::Operation *)> freeing;

private:
  struct Snapshot {
    mlir::Attribute properties;
    mlir::DictionaryAttr attributes;
    mlir::LocationAttr loc;
    llvm::SmallVector<mlir::Value, 4> operands;
    llvm::SmallVector<mlir::Type, 2> resultTypes;
  };

  static constexpr size_t kChunk = 1024;

  /// Writes the members in place, because a copy of a new entry would stall on the stores to that entry.
  void add(Kind kind, unsigned number, void *subject, void *place, void *next) {
    if (count == chunks.size() * kChunk)
      chunks.emplace_back(new Entry[kChunk]);
    Entry &entry = chunks[count / kChunk][count % kChunk];
    entry.kind = kind;
    entry.number = number;
    entry.subject = subject;
    entry.place = place;
    entry.next = next;
    ++count;
  }

  void destroyErased();
  void undo(const Entry &entry);
  void restore(mlir::Operation *op, const Snapshot &snapshot);

  std::vector<std::unique_ptr<Entry[]>> chunks; ///< Entries in chunks, so that they do not move when the journal grows.
  size_t count = 0;
  std::deque<Snapshot> snapshots;
  llvm::DenseSet<mlir::Operation *> nestedErased; ///< Ops in regions of erased ops.
  bool erasesBlocks = false;                      ///< True if a block was erased since the last commit.
};

} // namespace inlay

#endif // INLAY_REWRITE_JOURNAL_H
