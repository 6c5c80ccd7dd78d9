// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs Python's graph rewriters on the graph of the rewrite suite, each in its own process.

#ifndef TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H
#define TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H

#include "Measure/Figures.h"

namespace inlay::bench {

/// Adds a table that compares `peers` with Inlay, whose patterns are written in Python. A peer runs with the first
/// interpreter that has it. If none has it, a note says so.
rt::Status measureRewritePeers(unsigned repeats, uint32_t ops, llvm::ArrayRef<std::string> peers,
                               llvm::ArrayRef<std::string> pythons, Figures &figures);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H
