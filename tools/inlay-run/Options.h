// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of inlay-run: options of its own, and those of the compiler that it hands on.

#ifndef INLAY_TOOLS_INLAYRUN_OPTIONS_H
#define INLAY_TOOLS_INLAYRUN_OPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::tools {

struct RunOptions {
  std::string file = "-";          ///< a module's text or a container; "-" for a module on standard input
  std::vector<std::string> inputs; ///< .npy files in order, or one .npz file with an array per argument
  std::vector<std::string> sizes;  ///< "name=value" for symbols of inputs without a file
  uint64_t seed = 0;               ///< for arguments without a file
  std::string output;              ///< .npy or .npz file for results; empty prints a summary
  bool compare = false;            ///< run on the host alone too and print the largest difference
  bool check = false;              ///< compare each segment of a device with what the host makes of its inputs
  unsigned repeat = 0;             ///< timed runs
  unsigned profiled = 0;           ///< runs that are timed step by step
  std::string trace;               ///< .json file for a trace of one more run; empty for none
  std::string device;              ///< selector
  std::string publicKey;           ///< file of the key that a container must be signed with
  bool listDevices = false;
  bool describe = false;
  std::string from = "import"; ///< first phase of the compiler
  std::string report;          ///< file for the partition report
  /// All options for the compiler, and those of them that say what the program is but not where it runs.
  std::vector<std::string> compilation, graph;
};

/// What the words of the command line ask for. An error says which option is wrong and what it may be. `help` is set
/// instead, to a text to print, if that is asked for.
rt::StatusOr<RunOptions> parseOptions(std::vector<std::string> words, std::string &help);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_OPTIONS_H
