// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of inlay-run: its options, and those of the compiler that it passes on.

#ifndef INLAY_TOOLS_INLAYRUN_OPTIONS_H
#define INLAY_TOOLS_INLAYRUN_OPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::tools {

struct RunOptions {
  std::string file = "-";          ///< A module or a container; "-" for a module on standard input.
  std::vector<std::string> inputs; ///< .npy files in order, or one .npz file with an array per argument.
  std::vector<std::string> sizes;  ///< "name=value" for symbols of inputs without a file.
  uint64_t seed = 0;               ///< Seed of arguments without a file.
  std::string output;              ///< .npy or .npz file for results; if empty, a summary is printed.
  bool compare = false;            ///< Runs on the host too and prints the largest difference.
  bool check = false;              ///< Compares each segment on a device with its host version.
  unsigned repeat = 0;             ///< Number of timed runs.
  unsigned profiled = 0;           ///< Number of runs that are timed step by step.
  std::string trace;               ///< .json file for a trace of one more run; empty for none.
  std::string device;              ///< Device selector.
  std::string publicKey;           ///< File of the key that must verify a container's signature.
  bool listDevices = false;
  bool describe = false;
  std::string from = "import"; ///< First phase of the compiler.
  std::string report;          ///< File for the partition report.
  /// All options for the compiler, and those of them that describe the program but not where it runs.
  std::vector<std::string> compilation, graph;
};

/// Parses the command line. The error names the option that is wrong and its allowed values. If help is requested,
/// `help` is set to the text to print.
rt::StatusOr<RunOptions> parseOptions(std::vector<std::string> words, std::string &help);

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_OPTIONS_H
