// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must run before what in a block: uses, captures of nested regions, and the order of effects.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H
#define INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H

#include "Aliases.h"
#include "CompactLists.h"
#include "OpKinds.h"

#include "mlir/IR/Block.h"

namespace inlay {

/// The ops of one block but constants and the terminator, in program order, and what each depends on. A value captured
/// by a nested region is an operand of the op that owns the region.
class DependencyGraph {
public:
  /// A value that an op uses, and the number of the op of this block that defines it; nothing for values from
  /// elsewhere.
  struct Operand {
    mlir::Value value;
    std::optional<unsigned> definer;
  };

  /// A list made in the block that only ops of the block use, each of which changes it or reads it and no more. It may
  /// be copied with its changes: what an op reads of it is what the last change before made.
  struct ChangedList {
    unsigned maker;
    llvm::SmallVector<unsigned, 2> changes;
    /// (reader, next change): holds for the list itself, not between a reader of one copy and changes of another.
    llvm::SmallVector<std::pair<unsigned, unsigned>> readersBefore;
  };

  DependencyGraph(mlir::Block &block, const Aliases &aliases);

  mlir::Block &getBlock() const { return *block; }
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  unsigned size() const { return static_cast<unsigned>(ops.size()); }
  const PartitionOpInfo &getFacts(unsigned op) const { return facts[op]; }
  llvm::ArrayRef<mlir::Operation *> getConstants() const { return constants; }

  /// The number of the op of this block that defines `value`; nothing for constants and values from elsewhere.
  std::optional<unsigned> getDefiner(mlir::Value value) const;
  /// The op that made what `op` reads of `value`: the last change of a changed list, else what defines it.
  std::optional<unsigned> getSource(unsigned op, const Operand &operand) const;
  /// The distinct values an op uses, captures included, constants left out.
  llvm::ArrayRef<Operand> getOperands(unsigned op) const { return operands[op]; }
  /// Whether the operand's type may cross a border; asked of the value only if it comes from what may make another.
  bool mayCross(const Operand &operand) const {
    return (operand.definer && !facts[*operand.definer].makesNonTensor) || mayCrossBorder(operand.value.getType());
  }
  /// The ops that must run before an op; each is named once and less than it. Readers of a changed list before the next
  /// change are left out.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned op) const { return predecessors[op]; }
  size_t getEdgeCount() const { return predecessors.itemCount(); }
  bool usesConstants(unsigned op) const { return readsConstants[op]; }
  bool isUsedByTerminator(unsigned op) const { return leaves[op]; }
  const Aliases &getAliases() const { return *aliases; }

  /// All results of the block's ops are numbered, those of one op in a row.
  unsigned getNumResults() const { return firstResult.back(); }
  unsigned getFirstResult(unsigned op) const { return firstResult[op]; }
  unsigned getResult(unsigned definer, mlir::Value value) const {
    bool isOnly = firstResult[definer + 1] - firstResult[definer] == 1; // then the value need not be looked at
    return firstResult[definer] + (isOnly ? 0 : llvm::cast<mlir::OpResult>(value).getResultNumber());
  }

  llvm::ArrayRef<ChangedList> getChangedLists() const { return lists; }
  /// The changed list whose maker or change `op` is.
  std::optional<unsigned> getChangedList(unsigned op) const;

private:
  using Edges = std::vector<std::pair<unsigned, unsigned>>; ///< op, what must run before it

  void addUses(Edges &edges);
  void findChangedLists(Edges &edges);
  bool isChangedList(unsigned maker) const;
  void addChangedList(unsigned maker, Edges &edges);
  void addEffectOrder(Edges &edges);

  mlir::Block *block;
  const Aliases *aliases;
  std::vector<mlir::Operation *> ops, constants;
  std::vector<PartitionOpInfo> facts;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  CompactLists<Operand> operands;
  CompactLists<unsigned> predecessors;
  std::vector<unsigned> firstResult = {0};
  std::vector<bool> leaves, readsConstants;
  llvm::SmallVector<ChangedList, 0> lists;
  llvm::DenseMap<unsigned, unsigned> listOf; ///< by maker or change
  llvm::DenseSet<mlir::Value> listRoots;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H
