// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What inlay-run does, once its options are read.

#ifndef INLAY_TOOLS_INLAYRUN_RUN_H
#define INLAY_TOOLS_INLAYRUN_RUN_H

#include "inlay/Execution/Session.h"

#include <string>
#include <vector>

namespace inlay::tools {

struct RunOptions {
  std::vector<std::string> inputs; ///< .npy files in order, or one .npz file with an array per argument
  std::vector<std::string> sizes;  ///< "name=value" for symbols of inputs without a file
  uint64_t seed = 0;               ///< for arguments without a file
  std::string output;              ///< .npy or .npz file for results; empty prints a summary
  bool compare = false;            ///< run on the host alone too and print the largest difference
  unsigned repeat = 0;             ///< timed runs
  unsigned profiled = 0;           ///< runs that are timed step by step
  std::string trace;               ///< .json file for a trace of one more run; empty for none
};

/// Prints the devices that the Vulkan loader reports.
rt::Status listDevices();

/// The runs that an option asks for: 10 if it is given without a number, unchanged if it is not given (null).
rt::Status readRuns(llvm::StringRef option, const std::string *value, unsigned &runs);

/// The same of --profile, which may be given a .json file for a trace instead of a number.
rt::Status readProfile(const std::string *value, RunOptions &options);

/// Compiles, runs and prints.
rt::Status run(const CompileRequest &request, const RunOptions &options);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_RUN_H
