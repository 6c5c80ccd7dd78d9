// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs peers/fx_partitioners.py on a synthetic graph, for the partition suite.

#include "FxPartitioners.h"
#include "PythonPeer.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr llvm::StringLiteral kFxPartitionersScript =
#include "FxPartitioners.inc"
    ;

StatusOr<std::string> bench::findPythonWithTorch(llvm::StringRef python) {
  StatusOr<std::string> program = findPython(python);
  if (!program.isOk())
    return program.status();
  constexpr const char *kTry = "import sys\ntry:\n  import torch\nexcept ImportError:\n  sys.exit(3)\nprint('{}')";
  StatusOr<llvm::json::Object> tried = runPython(*program, kTry, "torch", {});
  return tried.isOk() ? program : StatusOr<std::string>(tried.status());
}

static void writeGraph(const SyntheticGraph &graph, llvm::raw_ostream &stream) {
  for (uint32_t node = 0; node < graph.size(); ++node) {
    stream << (graph.getRole(node) == Role::Host ? 'H' : 'A');
    for (uint32_t before : graph.getOperands(node))
      stream << ' ' << before;
    stream << '\n';
  }
}

StatusOr<llvm::json::Object> bench::runFxPartitioners(llvm::StringRef python, const SyntheticGraph &graph) {
  llvm::SmallString<128> graphFile;
  int file;
  if (llvm::sys::fs::createTemporaryFile("inlay-bench", "graph", file, graphFile))
    return Status(StatusCode::Internal, "can't create a temporary file");
  llvm::FileRemover removeGraph(graphFile);
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    writeGraph(graph, stream);
  }
  return runPython(python, kFxPartitionersScript, "torch.fx", {graphFile});
}
