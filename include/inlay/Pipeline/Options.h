// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of a compilation. Plain data: tools and bindings set it, `buildPipeline` reads it.

#ifndef INLAY_PIPELINE_OPTIONS_H
#define INLAY_PIPELINE_OPTIONS_H

#include "inlay/Partition/PartitionInfo.h"
#include "inlay/Pipeline/Phases.h"

#include <string>

namespace inlay {

struct Options {
  PartitionInfo partition;
  Phase from = Phase::Import; ///< First phase to run.
  Phase to = Phase::Stitch;   ///< Last phase to run.
  bool recovery = true;       ///< True to keep a host version of each engine, to run if the device fails.
  std::string dumpDirectory;  ///< If not empty, folder for the module after each phase, as NN-phase.mlir.
};

} // namespace inlay

#endif // INLAY_PIPELINE_OPTIONS_H
