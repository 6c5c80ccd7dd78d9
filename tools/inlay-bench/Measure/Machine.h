// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What figures depend on besides the code: processor, memory, compiler. No name and no path of the machine.

#ifndef TOOLS_INLAY_BENCH_MEASURE_MACHINE_H
#define TOOLS_INLAY_BENCH_MEASURE_MACHINE_H

#include "llvm/Support/JSON.h"

#include <string>
#include <utility>
#include <vector>

namespace inlay::bench {

std::vector<std::pair<std::string, llvm::json::Value>> describeMachine();

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_MEASURE_MACHINE_H
