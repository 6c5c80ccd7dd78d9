// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of a compilation. Plain data: tools and bindings fill it, `buildPipeline` reads it.

#ifndef INLAY_PIPELINE_OPTIONS_H
#define INLAY_PIPELINE_OPTIONS_H

#include "inlay/Partition/PartitionInfo.h"
#include "inlay/Pipeline/Phases.h"

#include <string>

namespace inlay {

struct Options {
  PartitionInfo partition;
  Phase from = Phase::Import; ///< the first phase to run
  Phase to = Phase::Stitch;   ///< the last phase to run
  bool recovery = true;       ///< keep a host version of each engine, to run when the device fails
  std::string dumpDirectory;  ///< if not empty, the module after each phase is written there as NN-phase.mlir
};

} // namespace inlay

#endif // INLAY_PIPELINE_OPTIONS_H
