// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suites of inlay-bench. A suite is a source file with its own options and one entry here.

#ifndef TOOLS_INLAY_BENCH_SUITES_SUITES_H
#define TOOLS_INLAY_BENCH_SUITES_SUITES_H

#include "Measure/Figures.h"

#include "llvm/Support/CommandLine.h"

namespace inlay::bench {

struct Suite {
  const char *name, *summary;
  llvm::cl::OptionCategory *options; ///< the options that are this suite's alone
  rt::Status (*run)(unsigned repeats, Figures &figures);
  bool hasPeers = false; ///< whether --against means something
};

const Suite &calibrateSuite();
const Suite &kernelsSuite();
const Suite &launchesSuite();
const Suite &modelsSuite();
const Suite &partitionSuite();
const Suite &rewriteSuite();
const Suite &sizesSuite();
const Suite &tuneSuite();

llvm::ArrayRef<Suite> getSuites();

/// The suite of a name, or that an option stands for; the error lists what there is.
rt::StatusOr<Suite> findSuite(llvm::StringRef name);

/// An error if an option on the command line belongs to another suite.
rt::Status checkOptions(const Suite &suite);

/// The command as a reader would type it: no folder in front of the tool or a file.
std::string describeCommand(int argc, char **argv);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_SUITES_SUITES_H
