// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time and memory of a step, alone in a process of its own: what one leaves behind is no part of the next.

#ifndef TOOLS_INLAY_BENCH_MEASURE_MEASURE_H
#define TOOLS_INLAY_BENCH_MEASURE_MEASURE_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <vector>

namespace inlay::bench {

/// Processor time of this process: on one thread that is the time on the clock, but for what others take meanwhile.
class Stopwatch {
public:
  double milliseconds() const { return now() - start; }

private:
  static double now();
  double start = now();
};

/// This process's memory in megabytes (2^20), as the system counts it.
class MemoryWatch {
public:
  /// From here on the peak counts.
  MemoryWatch();
  double before() const { return atStart; }
  double peak() const;

private:
  double atStart;
};

/// What `step` finds out, run in a child process. A child that ends otherwise than by returning is an error that
/// starts with `what`.
rt::StatusOr<llvm::json::Object> runInChild(llvm::StringRef what,
                                            llvm::function_ref<rt::StatusOr<llvm::json::Object>()> step);

/// The same object of several runs: the median of each figure whose name ends in `_ms` or `_mb`. All else must be the
/// same in every run.
rt::StatusOr<llvm::json::Object> summarize(llvm::StringRef what, llvm::ArrayRef<llvm::json::Object> runs);

/// Each of `variants` steps, in a child of its own, `repeats` times, by turns, so that a machine that slows down slows
/// all of them; the summary of each.
rt::StatusOr<std::vector<llvm::json::Object>>
measureByTurns(llvm::StringRef what, unsigned repeats, unsigned variants,
               llvm::function_ref<rt::StatusOr<llvm::json::Object>(unsigned variant)> step);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_MEASURE_H
