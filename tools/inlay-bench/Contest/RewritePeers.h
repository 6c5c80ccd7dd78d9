// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's graph rewriters on the graph of the rewrite suite, each in a process of its own.

#ifndef TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H
#define TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H

#include "Measure/Figures.h"

namespace inlay::bench {

/// Adds the table of `peers` against patterns for Inlay that are written in Python. A peer runs on the first of the
/// interpreters that has it; one that none has is left out with a note.
rt::Status measureRewritePeers(unsigned repeats, uint32_t ops, llvm::ArrayRef<std::string> peers,
                               llvm::ArrayRef<std::string> pythons, Figures &figures);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_REWRITEPEERS_H
