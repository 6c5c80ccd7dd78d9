// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops touch of the memory that somebody writes, and which values share it.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H
#define INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace inlay {

/// One thing an op reads or writes: what `root` stands for, or without a root anything of the resource, or without a
/// resource either any memory at all. Values of the graph (tensors, lists, objects) are in no resource.
struct MemoryAccess {
  mlir::Value root;
  mlir::SideEffects::Resource *resource = nullptr;
  bool writes = false;

  bool operator==(const MemoryAccess &other) const {
    return root == other.root && resource == other.resource && writes == other.writes;
  }
};

/// Values that may share memory, in a whole function: results with the operands that `aliases` numbers, views, values
/// that flow through the regions of control flow, and what lists hold. Unions of values after Steensgaard (Points-to
/// Analysis in Almost Linear Time, 1996); but what a list holds is one memory only once something is taken out of it.
class Aliases {
public:
  explicit Aliases(mlir::Operation *function);

  /// One value for all that may share memory with `value`.
  mlir::Value getRoot(mlir::Value value) const;
  /// True if some op writes memory that `value`, or what it holds, may share.
  bool isMutated(mlir::Value value) const;
  /// True if only this value, of all that have uses, is what its root stands for.
  bool isAlone(mlir::Value value) const { return shared.empty() || !shared.contains(getRoot(value)); }
  /// True if any op of the function has an effect, on tensors or other memory.
  bool hasEffects() const { return effects; }

  /// Adds what `op` with all that is nested in it touches of what somebody writes.
  void collectAccesses(mlir::Operation *op, llvm::SmallVectorImpl<MemoryAccess> &touches) const;
  /// The same without what is nested in it; reads first.
  void collectDirectAccesses(mlir::Operation *op, llvm::SmallVectorImpl<MemoryAccess> &touches) const;

private:
  void join(mlir::Value a, mlir::Value b);
  /// What a collection holds.
  struct Contents {
    llvm::SmallVector<mlir::Value, 1> values;
    bool taken = false; ///< all of it is one memory, and `values` is one of them
  };
  /// `collection` holds what may share memory with `element`.
  void hold(mlir::Value collection, mlir::Value element);
  /// `element` may share memory with anything that `collection` holds.
  void take(mlir::Value collection, mlir::Value element);
  static void joinContents(Contents &held, llvm::SmallVectorImpl<std::pair<mlir::Value, mlir::Value>> &pending);
  void joinLargeContents();
  /// Calls `visit` for the memory of `value`, of what it holds, and so on, until it returns true.
  template <typename Visit>
  bool anyMemoryOf(mlir::Value value, Visit visit) const;
  void joinRegions(mlir::Operation *op);
  void joinResults(mlir::Operation *op);
  void joinMemory(mlir::Operation *op);
  void joinUnknownMemory(mlir::Value value);
  void noteEffects(mlir::Operation *op);
  void noteWrites(mlir::Operation *op);
  void accessAll(mlir::Value value, bool writes, llvm::SmallVectorImpl<MemoryAccess> &touches) const;

  mutable llvm::DenseMap<mlir::Value, mlir::Value> parent;
  llvm::DenseMap<mlir::Value, Contents> contents; ///< by root
  mlir::Value unknownMemory;                      ///< any buffer of unknown origin: all of these may overlap
  llvm::DenseSet<mlir::Value> mutated, shared;
  bool effects = false;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H
