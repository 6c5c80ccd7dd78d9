// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FxPartitioners.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;

static constexpr llvm::StringLiteral kScript =
#include "FxPartitioners.inc"
    ;

StatusOr<std::string> bench::findPythonWithTorch(llvm::StringRef python) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(python);
  if (!program)
    return Status(StatusCode::Unavailable, "there is no '" + python.str() + "'");
  llvm::StringRef quiet[] = {"", "", ""};
  std::optional<llvm::StringRef> redirects[] = {quiet[0], quiet[1], quiet[2]};
  if (llvm::sys::ExecuteAndWait(*program, {*program, "-c", "import torch"}, std::nullopt, redirects) != 0)
    return Status(StatusCode::Unavailable, "'" + python.str() + "' has no torch");
  return *program;
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
  llvm::SmallString<128> graphFile, resultFile;
  int file;
  if (llvm::sys::fs::createTemporaryFile("inlay-bench", "graph", file, graphFile) ||
      llvm::sys::fs::createTemporaryFile("inlay-bench", "json", resultFile))
    return Status(StatusCode::Internal, "no temporary file");
  llvm::FileRemover removeGraph(graphFile), removeResult(resultFile);
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    writeGraph(graph, stream);
  }
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), resultFile.str(), std::nullopt};
  if (llvm::sys::ExecuteAndWait(python, {python, "-c", kScript, graphFile}, std::nullopt, redirects) != 0)
    return Status(StatusCode::Internal, "the partitioners of torch.fx failed");
  auto text = llvm::MemoryBuffer::getFile(resultFile);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text ? (*text)->getBuffer() : "");
  if (!value || !value->getAsObject()) {
    llvm::consumeError(value.takeError());
    return Status(StatusCode::Internal, "the partitioners of torch.fx printed no result");
  }
  return std::move(*value->getAsObject());
}
