// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suites of inlay-bench. Each suite is a source file with its options and an entry here.

#ifndef TOOLS_INLAY_BENCH_SUITES_SUITES_H
#define TOOLS_INLAY_BENCH_SUITES_SUITES_H

#include "Measure/Figures.h"

#include "llvm/Support/CommandLine.h"

namespace inlay::bench {

struct Suite {
  const char *name, *summary;
  llvm::cl::OptionCategory *options; ///< Options of this suite only.
  rt::Status (*run)(unsigned repeats, Figures &figures);
  bool hasPeers = false; ///< True if the suite supports --against.
};

const Suite &calibrateSuite();
const Suite &gpuCompilersSuite();
const Suite &kernelsSuite();
const Suite &launchesSuite();
const Suite &modelsSuite();
const Suite &partitionSuite();
const Suite &rewriteSuite();
const Suite &sizesSuite();
const Suite &tuneSuite();

llvm::ArrayRef<Suite> getSuites();

/// Returns the suite `name`, or the one that --calibrate or --tune selects. The error lists the suites.
rt::StatusOr<Suite> findSuite(llvm::StringRef name);

/// Returns an error if an option on the command line belongs to another suite.
rt::Status checkOptions(const Suite &suite);

/// Returns the command line without the folders of the tool and of files.
std::string describeCommand(int argc, char **argv);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_SUITES_SUITES_H
