// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs that are compiled and run to find out about a device, and the options of suites that do so.

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

/// What --device says; empty if it isn't given.
std::string getProbeDevice();

/// What -o names, or standard output. Made before anything is measured: nobody wants to measure for nothing. A file
/// that has the name stays until the new one is whole.
class ProbeOutput {
public:
  static rt::StatusOr<ProbeOutput> create();
  rt::Status write(const std::string &text);

private:
  struct Discard {
    void operator()(llvm::sys::fs::TempFile *file) const;
  };
  std::unique_ptr<llvm::sys::fs::TempFile, Discard> file; ///< null for what isn't a file
};

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_PROBE_H
