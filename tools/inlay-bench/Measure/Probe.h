// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs that measure a device, and the options of the suites that use them.

#ifndef TOOLS_INLAY_BENCH_MEASURE_PROBE_H
#define TOOLS_INLAY_BENCH_MEASURE_PROBE_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

#include <memory>
#include <string>

namespace inlay::bench {

/// A module with one public function of f32, which becomes one segment.
struct ProbeProgram {
  std::string text;
  std::string target;
  std::string tuning;  ///< Name of a tuning file, or empty.
  unsigned runs;       ///< Number of runs per round. The time of a round is their median.
  unsigned rounds = 1; ///< Number of rounds, of which the fastest counts.
};

/// The seconds of a probe's segment, and of a copy of a value to the device (`in`) and back (`out`). Several copies
/// count with their mean.
struct Times {
  double run = 0, in = 0, out = 0;
};

struct Sample : Times {
  double bytesIn = 0, bytesOut = 0; ///< Size of an input and of a result.
  std::string device;               ///< Name of the device, or empty for the host.
  std::string code;                 ///< Code of the kernels. Probes with equal code take the same time.
};

/// Compiles the probe, and runs it unless `isKnown` returns true for its code.
rt::StatusOr<Sample> runProbe(const ProbeProgram &probe,
                              llvm::function_ref<bool(const std::string &code)> isKnown = {});

llvm::cl::OptionCategory &getCalibrateCategory();
llvm::cl::OptionCategory &getTuneCategory();

/// Returns the value of --device, or "" without the option.
std::string getProbeDevice();

/// The file that -o names, or standard output. It is created before the measurement, so that errors come early. An
/// existing file stays until the new one is complete.
class ProbeOutput {
public:
  static rt::StatusOr<ProbeOutput> create();
  rt::Status write(const std::string &text);

private:
  struct Discard {
    void operator()(llvm::sys::fs::TempFile *file) const;
  };
  std::unique_ptr<llvm::sys::fs::TempFile, Discard> file; ///< Null if the output is not a regular file.
};

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_PROBE_H
