// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suites that measure Inlay beside what a user would pick instead: the scripts of peers/contest in a folder of their
// own, which start one process per contender and have them take calls by turns.

#ifndef TOOLS_INLAY_BENCH_CONTEST_CONTEST_H
#define TOOLS_INLAY_BENCH_CONTEST_CONTEST_H

#include "Measure/Figures.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace inlay::bench {

/// What a suite asks for.
struct Contest {
  llvm::StringRef suite;           ///< by this name the scripts know what its subjects are
  llvm::StringRef option;          ///< the one that names subjects; all if it names none
  std::vector<std::string> named;  ///< what it names
  std::vector<std::string> routes; ///< lists of Inlay's targets
  std::vector<std::string> dtypes;
  std::string scale;
  unsigned threads;
};

/// Adds the tables and notes of a contest to `figures`. A contender that can't be had or fails is a note; an option
/// that names what there isn't is an error, before anything is measured.
rt::Status runContest(const Contest &contest, unsigned repeats, Figures &figures);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_CONTEST_H
