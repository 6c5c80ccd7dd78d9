// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order that effects impose on the ops of a block. The number of edges is linear for any accesses.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H
#define INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H

#include "Aliases.h"

namespace inlay {

/// Computes the edges from the memory accesses of ops that are added in program order.
class EffectOrder {
public:
  /// Adds the next op in program order. Calls `before` with ops that must run before it. Predecessors of these ops may
  /// be left out.
  void add(unsigned op, llvm::ArrayRef<MemoryAccess> accesses, llvm::function_ref<void(unsigned)> before);

private:
  using Ops = llvm::SmallVector<unsigned, 2>;
  using Before = llvm::function_ref<void(unsigned)>;
  struct History {
    std::optional<unsigned> writer;
    Ops readers; ///< Readers after that writer.
  };
  /// The accesses to a resource as a whole and to values in it.
  struct ResourceHistory {
    History whole;
    Ops valueReaders, valueWriters; ///< Since the resource was last written as a whole.
  };

  void record(unsigned op, History &history, bool writes, Before before);
  void accessValue(unsigned op, const MemoryAccess &access, Before before);
  void accessResource(unsigned op, const MemoryAccess &access, Before before);
  void accessEverything(unsigned op, Before before);

  llvm::DenseMap<mlir::Value, History> values;
  llvm::DenseMap<mlir::SideEffects::Resource *, ResourceHistory> resources;
  std::optional<unsigned> everything; ///< The last op that may access any memory.
};

/// Records facts that a checker cannot derive from the partitioned function. Sets `inlay.order`, the position in
/// program order, on each op that accesses memory that some op writes. Sets `inlay.size` on the function: the number of
/// ops, including nested ones and excluding constants and terminators.
void recordProgram(mlir::Operation *function, const Aliases &aliases);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H
