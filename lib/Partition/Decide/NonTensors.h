// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule that only tensors and scalars cross the border of an accelerator. Ops that would break this rule, and that
// cannot be cloned, must run elsewhere.

#ifndef INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H
#define INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H

#include "Decisions.h"

namespace inlay {

/// Moves ops from accelerators to other targets until only tensors and scalars cross the borders of accelerators. Other
/// values may enter an accelerator through clones of the ops that make them.
mlir::LogicalResult keepNonTensorsTogether(const DependencyGraph &graph, TargetList &targets, Decisions &decisions);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_DECIDE_NONTENSORS_H
