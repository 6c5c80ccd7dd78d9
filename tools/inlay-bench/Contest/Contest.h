// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contests between Inlay and its peers. The scripts of peers/contest run in a temporary folder, start one process per
// contender and measure calls of the contenders in turn.

#ifndef TOOLS_INLAY_BENCH_CONTEST_CONTEST_H
#define TOOLS_INLAY_BENCH_CONTEST_CONTEST_H

#include "Measure/Figures.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// The parameters of a contest.
struct Contest {
  llvm::StringRef suite;           ///< Name of the suite, by which the scripts find its subjects.
  llvm::StringRef option;          ///< Name of the option that selects subjects.
  std::vector<std::string> named;  ///< Subjects that the option names. If empty, all are measured.
  std::vector<std::string> routes; ///< Lists of targets of Inlay, such as "vulkan+host".
  std::vector<std::string> dtypes;
  std::string scale;
  unsigned threads;
};

/// Runs a contest and adds its tables and notes to `figures`. A contender that is missing or fails gets a note. An
/// option with an unknown name is an error, which is reported before anything is measured.
rt::Status runContest(const Contest &contest, unsigned repeats, Figures &figures);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_CONTEST_H
