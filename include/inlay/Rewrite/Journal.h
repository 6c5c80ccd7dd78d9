// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rewriting did to a graph, so that it can be undone: a rewrite that fails leaves no trace, and so does a run that
// would never end. Ops that were erased keep their memory until the journal is committed.

#ifndef INLAY_REWRITE_JOURNAL_H
#define INLAY_REWRITE_JOURNAL_H

#include "mlir/IR/Operation.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <functional>

namespace inlay {

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
    unsigned number; ///< of the operand, or of the snapshot
    void *subject;   ///< the op, or the block
    void *place;     ///< the block (region) it was in, or the operand's value
    void *next;      ///< the op (block) it stood before, null for the end

    /// The op that the entry is about; null if it is about a block.
    mlir::Operation *getOp() const {
      return kind >= Kind::BlockCreated ? nullptr : static_cast<mlir::Operation *>(subject);
    }
  };

  using Mark = size_t;

  ~Journal() { commit(); }

  Mark mark() const { return entries.size(); }
  llvm::ArrayRef<Entry> since(Mark mark) const { return llvm::ArrayRef(entries).drop_front(mark); }

  /// Takes everything back that was done since `mark`.
  void undoTo(Mark mark);

  /// Makes everything final: frees what was erased.
  void commit();

  void created(mlir::Operation *op) { entries.push_back({Kind::Created, 0, op, nullptr, nullptr}); }
  void moved(mlir::Operation *op, mlir::Block *from, mlir::Operation *next);
  void createdBlock(mlir::Block *block) { entries.push_back({Kind::BlockCreated, 0, block, nullptr, nullptr}); }

  void movedBlock(mlir::Block *block, mlir::Region *from, mlir::Block *next) {
    entries.push_back({Kind::BlockMoved, 0, block, from, next});
  }

  /// Remembers operands, attributes, result types and location of an op that is about to be changed in place.
  void modifying(mlir::Operation *op);

  /// Says that `block` got another argument, its last.
  void addedArgument(mlir::Block *block) { entries.push_back({Kind::ArgumentAdded, 0, block, nullptr, nullptr}); }

  void setOperand(mlir::OpOperand &operand, mlir::Value value);

  /// Takes an op without uses, and all in it, out of the graph.
  void erase(mlir::Operation *op);

  /// Takes an empty block without predecessors out of its region.
  void erase(mlir::Block *block);

  /// True if `op` is no longer in the graph. Valid for every op seen since the last commit.
  bool isErased(mlir::Operation *op) const {
    return !op->getBlock() || (!nestedErased.empty() && nestedErased.contains(op));
  }

  /// Called before an op leaves the graph, by erasure or because its creation is undone.
  std::function<void(mlir::Operation *)> leaving;

  /// Called before the memory of an op, and of all in it, is freed. Who keeps ops beyond a run lets go of them here.
  std::function<void(mlir::Operation *)> freeing;

private:
  struct Snapshot {
    mlir::Attribute properties;
    mlir::DictionaryAttr attributes;
    mlir::LocationAttr loc;
    llvm::SmallVector<mlir::Value, 4> operands;
    llvm::SmallVector<mlir::Type, 2> resultTypes;
  };

  void undo(const Entry &entry);
  void restore(mlir::Operation *op, const Snapshot &snapshot);

  std::vector<Entry> entries;
  std::deque<Snapshot> snapshots;
  llvm::DenseSet<mlir::Operation *> nestedErased; ///< ops in regions of erased ops
};

} // namespace inlay

#endif // INLAY_REWRITE_JOURNAL_H
