// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are neither tensor nor scalar never cross the border of an accelerator: what would make them do so, and
// can't be copied, must run elsewhere.

#ifndef INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H
#define INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H

#include "Decisions.h"

namespace inlay {

/// Sends ops to a target that is no accelerator until no value that may not cross the border of one does, other than by
/// copies of the ops that make it.
mlir::LogicalResult keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H
