// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modeled time of a partitioned function, per segment, computed from the IR alone.

#ifndef INLAY_LIB_PARTITION_COST_MODELEDTIME_H
#define INLAY_LIB_PARTITION_COST_MODELEDTIME_H

#include "ModuleCosts.h"
#include "inlay/Partition/SegmentedBlock.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

struct ModeledTimes {
  /// By `inlay.segment` op. A segment inside of control flow has the time of one execution.
  llvm::DenseMap<mlir::Operation *, SegmentTime> segments;
  double total = 0; ///< Seconds of the whole function.
};

/// Models the times of the segments. A value is transferred to a target once, at the first segment there that reads it,
/// and to the host once, at the segment that makes it. Arguments and results of the function are in the memory of the
/// host, constants in that of every target.
ModeledTimes modelTimes(mlir::FunctionOpInterface function, const ModuleCosts &costs, const TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_COST_MODELEDTIME_H
