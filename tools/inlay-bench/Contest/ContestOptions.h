// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that the suites models and kernels have in common.

#ifndef TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H
#define TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/CommandLine.h"

#include <string>
#include <vector>

namespace inlay::bench {

llvm::cl::OptionCategory &modelsCategory();
llvm::cl::OptionCategory &kernelsCategory();

/// The lists of Inlay's targets that --routes names; empty without it.
std::vector<std::string> getRoutes();

/// What --dtypes names, f32 without it; an error for a name that is none.
rt::StatusOr<std::vector<std::string>> getDtypes();

/// How many threads every contender has.
unsigned getThreads();

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H
