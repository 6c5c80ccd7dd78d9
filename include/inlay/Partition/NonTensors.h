// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are neither tensor nor scalar never cross the border of an accelerator: which ops may be copied so that
// they needn't, and which must run elsewhere.

#ifndef INLAY_PARTITION_NONTENSORS_H
#define INLAY_PARTITION_NONTENSORS_H

#include "inlay/Partition/Decisions.h"

namespace inlay {

/// True for each op that may be copied into the segments that need its result: it makes a list or tuple, nobody writes
/// that or what it is made of, and what of its operands may not cross a border is made by such ops too.
std::vector<bool> findClonable(const DependencyGraph &graph, const Decisions &decisions);

/// The users of each op's results that may not cross a border.
std::vector<llvm::SmallVector<unsigned, 2>> findBoundUsers(const DependencyGraph &graph);

/// Sends ops to a target that is no accelerator until no value that may not cross the border of one does, other than by
/// copies of the ops that make it.
mlir::LogicalResult keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions);

} // namespace inlay

#endif // INLAY_PARTITION_NONTENSORS_H
