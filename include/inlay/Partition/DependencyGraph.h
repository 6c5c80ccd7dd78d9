// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must run before what in a block: uses, captures of nested regions, and the order of effects.

#ifndef INLAY_PARTITION_DEPENDENCYGRAPH_H
#define INLAY_PARTITION_DEPENDENCYGRAPH_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace inlay {

/// Values that may share memory, in a whole function: results with the operands that `aliases` numbers, and values that
/// flow through the regions of control flow.
class Aliases {
public:
  explicit Aliases(mlir::Operation *function);

  /// One value for all that may share memory with `value`.
  mlir::Value getRoot(mlir::Value value) const;
  /// True if some op writes memory that `value` may share.
  bool isMutated(mlir::Value value) const { return !mutated.empty() && mutated.contains(getRoot(value)); }
  /// True if any op of the function has an effect, on tensors or other memory.
  bool hasEffects() const { return effects; }

private:
  void join(mlir::Value a, mlir::Value b);
  void joinRegions(mlir::Operation *op);

  mutable llvm::DenseMap<mlir::Value, mlir::Value> parent;
  llvm::DenseSet<mlir::Value> mutated;
  bool effects = false;
};

/// The ops of one block but constants and the terminator, in program order, and what each depends on. A value captured
/// by a nested region is an operand of the op that owns the region.
class DependencyGraph {
public:
  DependencyGraph(mlir::Block &block, const Aliases &aliases);

  mlir::Block &getBlock() const { return *block; }
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  unsigned size() const { return static_cast<unsigned>(ops.size()); }

  /// The number of the op of this block that defines `value`; nothing for constants and values from elsewhere.
  std::optional<unsigned> getDefiner(mlir::Value value) const;
  /// The distinct values an op uses, captures included, constants left out.
  llvm::ArrayRef<mlir::Value> getOperands(unsigned op) const { return operands[op]; }
  /// The ops that must run before an op; each is named once and less than it.
  llvm::ArrayRef<unsigned> getPredecessors(unsigned op) const { return predecessors[op]; }
  bool isUsedByTerminator(unsigned op) const { return leaves[op]; }
  const Aliases &getAliases() const { return *aliases; }

private:
  void addEffectOrder();

  mlir::Block *block;
  const Aliases *aliases;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  std::vector<llvm::SmallVector<mlir::Value, 3>> operands;
  std::vector<llvm::SmallVector<unsigned, 3>> predecessors;
  std::vector<bool> leaves;
};

} // namespace inlay

#endif // INLAY_PARTITION_DEPENDENCYGRAPH_H
