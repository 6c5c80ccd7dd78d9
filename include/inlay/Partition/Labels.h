// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labels by which reports, options and diagnostics name the ops of a function.

#ifndef INLAY_PARTITION_LABELS_H
#define INLAY_PARTITION_LABELS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

/// Gives each op without a unique name location the label `name#number`, where `number` is its position among the
/// function's ops. Constants and terminators get no label.
void labelOps(mlir::FunctionOpInterface function);

} // namespace inlay

#endif // INLAY_PARTITION_LABELS_H
