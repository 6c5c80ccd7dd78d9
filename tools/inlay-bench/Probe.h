// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs that are compiled and run to find out about a device, and the options of suites that do so.

#ifndef INLAY_TOOLS_BENCH_PROBE_H
#define INLAY_TOOLS_BENCH_PROBE_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"

#include <string>

namespace inlay::bench {

/// A module with one public function of f32, which becomes one segment.
struct ProbeProgram {
  std::string text;
  std::string target;
  std::string tuning;  ///< a file, or empty
  unsigned runs;       ///< whose median counts
  unsigned rounds = 1; ///< of so many runs, of which the fastest counts
};

/// Seconds of a probe's one segment, and of a copy there and back of a value, of several the mean.
struct Times {
  double run = 0, in = 0, out = 0;
};

struct Sample : Times {
  double bytesIn = 0, bytesOut = 0; ///< of a value
  std::string device;               ///< that it ran on; empty for the host
  std::string code;                 ///< the words of its kernels: equal ones take as long
};

/// Compiles the probe; runs it unless what it became is `known` by its code.
rt::StatusOr<Sample> runProbe(const ProbeProgram &probe,
                              llvm::function_ref<bool(const std::string &code)> isKnown = {});

llvm::cl::OptionCategory &getCalibrateCategory();
llvm::cl::OptionCategory &getTuneCategory();

/// What -o and --device say; empty if they aren't given.
std::string getProbeOutput();
std::string getProbeDevice();

} // namespace inlay::bench

#endif // INLAY_TOOLS_BENCH_PROBE_H
