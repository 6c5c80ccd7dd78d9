// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PartitionOpInterface: the properties of ops that partitioning needs, for our ops and, by external models, for ops of
// other dialects.

#ifndef INLAY_PARTITION_OPINTERFACE_H
#define INLAY_PARTITION_OPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "inlay/Partition/OpInterface.h.inc"

#endif // INLAY_PARTITION_OPINTERFACE_H
