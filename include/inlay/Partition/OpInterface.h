// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PartitionOpInterface: what partitioning asks of ops, for ops of one's own and, by external models, of other dialects.

#ifndef INLAY_PARTITION_OPINTERFACE_H
#define INLAY_PARTITION_OPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "inlay/Partition/OpInterface.h.inc"

#endif // INLAY_PARTITION_OPINTERFACE_H
