// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The properties of the machine that figures depend on: processor, memory and compiler, without names and paths.

#ifndef TOOLS_INLAY_BENCH_MEASURE_MACHINE_H
#define TOOLS_INLAY_BENCH_MEASURE_MACHINE_H

#include "llvm/Support/JSON.h"

#include <string>
#include <utility>
#include <vector>

namespace inlay::bench {

/// Returns the properties of this machine by their names.
std::vector<std::pair<std::string, llvm::json::Value>> describeMachine();

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_MACHINE_H
