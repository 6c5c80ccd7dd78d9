// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each op of a block is to run and why: made from what targets say and users force, kept in `inlay.verdict`, and
// changed where a value that is neither tensor nor scalar would cross the border of an accelerator.

#ifndef INLAY_PARTITION_DECISIONS_H
#define INLAY_PARTITION_DECISIONS_H

#include "inlay/Partition/DependencyGraph.h"
#include "inlay/Partition/Targets.h"

namespace inlay {

struct Decision {
  unsigned target = 0;
  ReasonCode code = ReasonCode::Supported;
  std::string text;
  std::string causedBy; ///< label of the op that caused it, or empty

  /// The user said where the op runs: it neither moves nor is copied.
  bool isForced() const {
    return code == ReasonCode::FallbackOp || code == ReasonCode::FallbackModule || code == ReasonCode::FallbackLocation;
  }
};

using Decisions = std::vector<Decision>;

/// The `inlay.verdict` of the op; reports its absence, or a target the module doesn't have.
mlir::FailureOr<Decision> readDecision(mlir::Operation *op, const TargetList &targets);
void writeDecision(mlir::Operation *op, const Decision &decision, const TargetList &targets);

/// True if `inlay.target` pins the op.
bool isPinned(mlir::Operation *op);

/// True for each op that may be copied into the segments that need its result: it makes a list or tuple, nobody writes
/// that or what it is made of, and what of its operands may not cross a border is made by such ops too.
std::vector<bool> findClonable(const DependencyGraph &graph, const Decisions &decisions);

/// The users of each op's results that may not cross a border.
std::vector<llvm::SmallVector<unsigned, 2>> findBoundUsers(const DependencyGraph &graph);

/// Sends ops to a target that is no accelerator until no value that may not cross the border of one does, other than by
/// copies of the ops that make it.
mlir::LogicalResult keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions);

} // namespace inlay

#endif // INLAY_PARTITION_DECISIONS_H
