// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the time and memory of steps. Each step runs in its own process, so that no step affects the next.

#ifndef TOOLS_INLAY_BENCH_MEASURE_MEASURE_H
#define TOOLS_INLAY_BENCH_MEASURE_MEASURE_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <vector>

namespace inlay::bench {

/// Measures the processor time of this process. For one thread it is the elapsed time without that of other processes.
class Stopwatch {
public:
  double milliseconds() const { return now() - start; }

private:
  static double now();
  double start = now();
};

/// Measures the resident memory of this process in megabytes (2^20 bytes).
class MemoryWatch {
public:
  /// Resets the peak.
  MemoryWatch();
  double before() const { return atStart; }
  double peak() const;

private:
  double atStart;
};

/// Runs `step` in a child process and returns its result. Errors start with `what`. If the child ends before `step`
/// returns, the status is an error.
rt::StatusOr<llvm::json::Object> runInChild(llvm::StringRef what,
                                            llvm::function_ref<rt::StatusOr<llvm::json::Object>()> step);

/// Combines the objects of several runs into one with the median of each figure whose name ends in `_ms` or `_mb`. All
/// other figures must be equal in all runs.
rt::StatusOr<llvm::json::Object> summarize(llvm::StringRef what, llvm::ArrayRef<llvm::json::Object> runs);

/// Runs each of `variants` steps `repeats` times, each time in its own child process, and returns the summary of each.
/// The steps alternate, so that a machine that becomes slower affects all of them.
rt::StatusOr<std::vector<llvm::json::Object>>
measureByTurns(llvm::StringRef what, unsigned repeats, unsigned variants,
               llvm::function_ref<rt::StatusOr<llvm::json::Object>(unsigned variant)> step);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_MEASURE_H
