// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the partitioners of torch.fx on a synthetic graph in a Python process.

#ifndef TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H
#define TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H

#include "Graphs/SyntheticGraph.h"

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/JSON.h"

namespace inlay::bench {

/// Returns the path of the interpreter `python`. The status is Unavailable if it does not exist or has no torch.
rt::StatusOr<std::string> findPythonWithTorch(llvm::StringRef python);

/// Returns the object that peers/fx_partitioners.py prints for the graph.
rt::StatusOr<llvm::json::Object> runFxPartitioners(llvm::StringRef python, const SyntheticGraph &graph);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H
