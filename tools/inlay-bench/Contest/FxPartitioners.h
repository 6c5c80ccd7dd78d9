// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partitioners of torch.fx on a synthetic graph, in a Python process of their own.

#ifndef TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H
#define TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H

#include "Graphs/SyntheticGraph.h"

#include "inlay/Runtime/Core/Status.h"

#include "llvm/Support/JSON.h"

namespace inlay::bench {

/// The full name of the interpreter that `python` names; unavailable if there is none or it has no torch.
rt::StatusOr<std::string> findPythonWithTorch(llvm::StringRef python);

/// What peers/fx_partitioners.py prints for the graph.
rt::StatusOr<llvm::json::Object> runFxPartitioners(llvm::StringRef python, const SyntheticGraph &graph);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_CONTEST_FXPARTITIONERS_H
