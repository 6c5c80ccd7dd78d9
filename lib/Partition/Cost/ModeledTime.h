// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a partitioned function takes under a cost model, segment by segment, read from the IR alone.

#ifndef INLAY_LIB_PARTITION_COST_MODELEDTIME_H
#define INLAY_LIB_PARTITION_COST_MODELEDTIME_H

#include "ModuleCosts.h"
#include "inlay/Partition/SegmentedBlock.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace inlay {

struct ModeledTimes {
  /// By the `inlay.segment` op; one inside control flow each time it runs.
  llvm::DenseMap<mlir::Operation *, SegmentTime> segments;
  double total = 0; ///< seconds of the function
};

/// A value is shipped to a target once, at the first segment there that reads it, and to the host once, at the segment
/// that makes it. Arguments and results of the function are in the host's memory, constants in every target's.
ModeledTimes modelTimes(mlir::FunctionOpInterface function, const ModuleCosts &costs, const TargetList &targets);

} // namespace inlay

#endif // INLAY_LIB_PARTITION_COST_MODELEDTIME_H
