// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dependencies between the ops of a block: uses, captures of nested regions, and the order of effects.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H
#define INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H

#include "Aliases.h"
#include "CompactLists.h"
#include "OpKinds.h"

#include "mlir/IR/Block.h"

namespace inlay {

/// The ops of one block in program order, without constants and the terminator, and the ops that each depends on. A
/// value captured by a nested region is an operand of the op that owns the region.
class DependencyGraph {
public:
  /// A value that an op uses, and the number of the op of this block that defines it. The number is absent for values
  /// from elsewhere.
  struct Operand {
    mlir::Value value;
    std::optional<unsigned> definer;
  };

  /// A list that an op of the block makes. Only ops of the block use the list, and each of them either changes it or
  /// reads it. The list may be cloned together with its changes, because a reader depends only on the changes before
  /// it.
  struct ChangedList {
    unsigned maker;
    llvm::SmallVector<unsigned, 2> changes;
    /// Pairs of a reader and the next change. They order accesses to the list itself. A reader of one clone is
    /// independent of changes to another.
    llvm::SmallVector<std::pair<unsigned, unsigned>> readersBefore;
  };

  DependencyGraph(mlir::Block &block, const Aliases &aliases);

  mlir::Block &getBlock() const { return *block; }
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  unsigned size() const { return static_cast<unsigned>(ops.size()); }
  const PartitionOpInfo &getFacts(unsigned op) const { return facts[op]; }
  llvm::ArrayRef<mlir::Operation *> getConstants() const { return constants; }

  /// Returns the number of the op of this block that defines `value`, or std::nullopt for constants and values from
  /// elsewhere.
  std::optional<unsigned> getDefiner(mlir::Value value) const;
  /// Returns the op that made the value that `op` reads: for a changed list, the last change before `op`, else the
  /// definer.
  std::optional<unsigned> getSource(unsigned op, const Operand &operand) const;
  /// Returns the distinct values that an op uses, including captures and excluding constants.
  llvm::ArrayRef<Operand> getOperands(unsigned op) const { return operands[op]; }
  /// Returns true if the operand may cross a border. Skips the check of the type if the definer makes only values that
  /// may cross.
  bool mayCross(const Operand &operand) const {
    return (operand.definer && !facts[*operand.definer].makesNonTensor) || mayCrossBorder(operand.value.getType());
  }
  /// Returns the ops that must run before `op`, each once. Their numbers are less than `op`. Readers of a changed list
  /// before the next change are left out.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned op) const { return predecessors[op]; }
  size_t getEdgeCount() const { return predecessors.itemCount(); }
  bool usesConstants(unsigned op) const { return readsConstants[op]; }
  bool isUsedByTerminator(unsigned op) const { return leaves[op]; }
  const Aliases &getAliases() const { return *aliases; }

  /// The results of all ops of the block are numbered. The results of one op have consecutive numbers.
  unsigned getNumResults() const { return firstResult.back(); }
  unsigned getFirstResult(unsigned op) const { return firstResult[op]; }
  unsigned getResult(unsigned definer, mlir::Value value) const {
    bool isOnly = firstResult[definer + 1] - firstResult[definer] == 1; // Then the value is not needed.
    return firstResult[definer] + (isOnly ? 0 : llvm::cast<mlir::OpResult>(value).getResultNumber());
  }

  llvm::ArrayRef<ChangedList> getChangedLists() const { return lists; }
  /// Returns the changed list that `op` makes or changes, if any.
  std::optional<unsigned> getChangedList(unsigned op) const;

private:
  using Edges = std::vector<std::pair<unsigned, unsigned>>; ///< Pairs of an op and one that must run before it.

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
  llvm::DenseMap<unsigned, unsigned> listOf; ///< Index of the list by its maker and changes.
  llvm::DenseSet<mlir::Value> listRoots;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_DEPENDENCYGRAPH_H
