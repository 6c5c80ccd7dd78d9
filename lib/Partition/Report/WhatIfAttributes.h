// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores the answers of a what-if analysis in `inlay.partition` of a function and reads them back for the report.

#ifndef INLAY_LIB_PARTITION_REPORT_WHATIFATTRIBUTES_H
#define INLAY_LIB_PARTITION_REPORT_WHATIFATTRIBUTES_H

#include "inlay/Partition/WhatIf.h"

#include "mlir/IR/Attributes.h"

namespace inlay {

mlir::Attribute toAttribute(mlir::MLIRContext *context, const WhatIf &whatIf);
mlir::Attribute toAttribute(mlir::MLIRContext *context, llvm::ArrayRef<SweepRow> rows);

/// Returns std::nullopt if `attribute` is null or malformed.
std::optional<WhatIf> readWhatIf(mlir::Attribute attribute);
/// Returns no rows if `attribute` is null or malformed.
std::vector<SweepRow> readSweep(mlir::Attribute attribute);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_REPORT_WHATIFATTRIBUTES_H
