// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order that effects impose on the ops of a block, as few edges as it takes: linearly many, whatever the ops touch.

#ifndef INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H
#define INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H

#include "Aliases.h"

namespace inlay {

class EffectOrder {
public:
  /// Takes the next op in program order; calls `before` with ops that must run before it. Their own predecessors may be
  /// left out.
  void add(unsigned op, llvm::ArrayRef<MemoryAccess> touches, llvm::function_ref<void(unsigned)> before);

private:
  using Ops = llvm::SmallVector<unsigned, 2>;
  using Before = llvm::function_ref<void(unsigned)>;
  struct History {
    std::optional<unsigned> writer;
    Ops readers; ///< since that writer
  };
  /// What touched a resource as a whole or some value in it.
  struct ResourceHistory {
    History whole;
    Ops valueReaders, valueWriters; ///< since the resource was last written as a whole
  };

  void touch(unsigned op, History &history, bool writes, Before before);
  void accessValue(unsigned op, const MemoryAccess &touch, Before before);
  void accessResource(unsigned op, const MemoryAccess &touch, Before before);
  void accessEverything(unsigned op, Before before);

  llvm::DenseMap<mlir::Value, History> values;
  llvm::DenseMap<mlir::SideEffects::Resource *, ResourceHistory> resources;
  std::optional<unsigned> everything; ///< the last op that may touch any memory
};

/// Writes on the function what a checker can't find out once it is partitioned: `inlay.order` on each op that touches
/// what somebody writes, where it stands in program order, and `inlay.size`, the number of ops but constants and
/// terminators, nested ones included.
void recordProgram(mlir::Operation *function, const Aliases &aliases);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_ANALYSIS_EFFECTORDER_H
