// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that the suites models and kernels share.

#ifndef TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H
#define TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/CommandLine.h"

#include <string>
#include <vector>

namespace inlay::bench {

llvm::cl::OptionCategory &modelsCategory();
llvm::cl::OptionCategory &kernelsCategory();

/// Returns the lists of targets in --routes, or nothing without the option.
std::vector<std::string> getRoutes();

/// Returns the dtypes in --dtypes, f32 without the option, or an error for an unknown dtype.
rt::StatusOr<std::vector<std::string>> getDtypes();

/// Returns the number of threads of every contender.
unsigned getThreads();

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_CONTESTOPTIONS_H
