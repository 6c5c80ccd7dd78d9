// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory accesses of ops to memory that some op writes, and the sets of values that may share memory.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H
#define INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace inlay {

/// One read or write by an op. If `root` is set, the op accesses the memory of `root` and of all values that may share
/// memory with it. If only `resource` is set, the op accesses the whole resource. If neither is set, the op accesses
/// any memory. Values of the graph (tensors, lists, objects) have no resource.
struct MemoryAccess {
  mlir::Value root;
  mlir::SideEffects::Resource *resource = nullptr;
  bool writes = false;

  bool operator==(const MemoryAccess &other) const {
    return root == other.root && resource == other.resource && writes == other.writes;
  }
};

/// The sets of values of a function that may share memory: results and the operands that `aliases` lists, views, values
/// that flow through the regions of control flow, and the elements of lists. Sets are unions of values after
/// Steensgaard (Points-to Analysis in Almost Linear Time, 1996), except that the elements of a list are united only
/// once an element is taken out of it.
class Aliases {
public:
  explicit Aliases(mlir::Operation *function);

  /// Returns the representative of all values that may share memory with `value`.
  mlir::Value getRoot(mlir::Value value) const;
  /// Returns true if some op writes memory that `value` or its elements may share.
  bool isMutated(mlir::Value value) const;
  /// Returns true if no other value with uses has the same root.
  bool isAlone(mlir::Value value) const { return shared.empty() || !shared.contains(getRoot(value)); }
  /// Returns true if any op of the function has an effect, on tensors or on other memory.
  bool hasEffects() const { return effects; }

  /// Appends the accesses of `op` and of all ops nested in it to memory that some op writes.
  void collectAccesses(mlir::Operation *op, llvm::SmallVectorImpl<MemoryAccess> &accesses) const;
  /// The same without nested ops. Reads come before writes.
  void collectDirectAccesses(mlir::Operation *op, llvm::SmallVectorImpl<MemoryAccess> &accesses) const;

private:
  void join(mlir::Value a, mlir::Value b);
  /// The elements of a collection.
  struct Contents {
    llvm::SmallVector<mlir::Value, 1> values;
    bool taken =
        false; ///< True if an element was taken out. All elements then share memory, and `values` holds one of them.
  };
  /// Records that `collection` holds a value that may share memory with `element`.
  void hold(mlir::Value collection, mlir::Value element);
  /// Records that `element` may share memory with any element of `collection`.
  void take(mlir::Value collection, mlir::Value element);
  static void joinContents(Contents &held, llvm::SmallVectorImpl<std::pair<mlir::Value, mlir::Value>> &pending);
  void joinLargeContents();
  /// Calls `visit` for the memory of `value`, of its elements, of their elements and so on, until it returns true.
  /// Returns true if `visit` did.
  template <typename Visit>
  bool anyMemoryOf(mlir::Value value, Visit visit) const;
  void joinRegions(mlir::Operation *op);
  void joinResults(mlir::Operation *op);
  void joinMemory(mlir::Operation *op);
  void joinUnknownMemory(mlir::Value value);
  void noteEffects(mlir::Operation *op);
  void noteWrites(mlir::Operation *op);
  void accessAll(mlir::Value value, bool writes, llvm::SmallVectorImpl<MemoryAccess> &accesses) const;

  mutable llvm::DenseMap<mlir::Value, mlir::Value> parent;
  llvm::DenseMap<mlir::Value, Contents> contents; ///< By root.
  mlir::Value unknownMemory;                      ///< Some buffer of unknown origin. All such buffers may overlap.
  llvm::DenseSet<mlir::Value> mutated, shared;    ///< Roots that are written, and roots of several used values.
  bool effects = false;
};

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_ALIASES_H
