// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds Python interpreters and runs a script that prints a JSON object. Contest.cpp and RewritePeers.cpp say which
// script.

#include "PythonPeer.h"
#include "ToolOptions.h"
#include "inlay/Support/Suggest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace inlay;
using rt::Status;
using rt::StatusCode;
using rt::StatusOr;
namespace cl = llvm::cl;

static cl::list<std::string> against(
    "against", cl::CommaSeparated, cl::cat(tools::toolCategory()), cl::value_desc("peer"),
    cl::desc("Compare with peers. The suite partition then only compares with torch (torch.fx) on the same graphs, "
             "of sizes 500,1000 by default. The suite rewrite then only compares with onnxscript, xdsl, inductor, "
             "torch.fx. The suites models and kernels also measure torch, torch-cuda, inductor, onnxruntime, "
             "openvino, iree, iree-vulkan, ncnn, ncnn-vulkan, executorch"));
static cl::list<std::string>
    pythons("python", cl::CommaSeparated, cl::cat(tools::toolCategory()),
            cl::desc("Interpreters for the suites models and kernels and for --against. The first one that has a "
                     "peer runs it; default: python3"));

std::vector<std::string> bench::getPeers() { return against; }

std::vector<std::string> bench::getPythons() {
  return pythons.empty() ? std::vector<std::string>{"python3"} : std::vector<std::string>(pythons);
}

StatusOr<std::string> bench::findPython(llvm::StringRef python) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(python);
  if (!program)
    return Status(StatusCode::Unavailable, "found no interpreter '" + python.str() + "'");
  return *program;
}

static llvm::StringRef getLastLine(llvm::StringRef text) {
  auto [before, last] = text.rtrim().rsplit('\n');
  return last.empty() ? before : last;
}

/// Runs a command and returns the JSON object that it prints. Its standard error goes to `errorFile`, or is shown if
/// that is empty.
static StatusOr<llvm::json::Object> runCommand(llvm::StringRef program, llvm::StringRef what,
                                               llvm::ArrayRef<llvm::StringRef> command,
                                               std::optional<llvm::StringRef> errorFile) {
  llvm::SmallString<128> resultFile;
  if (llvm::sys::fs::createTemporaryFile("inlay-bench", "json", resultFile))
    return Status(StatusCode::Internal, "can't create a temporary file");
  llvm::FileRemover removeResult(resultFile);
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), resultFile.str(), errorFile};
  int code = llvm::sys::ExecuteAndWait(program, command, std::nullopt, redirects);
  if (code == 3)
    return Status(StatusCode::Unavailable, "'" + program.str() + "' has no " + what.str());
  if (code != 0) {
    auto errors = llvm::MemoryBuffer::getFile(errorFile.value_or(""));
    std::string last = errors ? getLastLine((*errors)->getBuffer()).str() : "status " + std::to_string(code);
    return Status(StatusCode::Internal, what.str() + " failed: " + last);
  }
  auto text = llvm::MemoryBuffer::getFile(resultFile);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text ? (*text)->getBuffer() : "");
  if (!value || !value->getAsObject()) {
    llvm::consumeError(value.takeError());
    return Status(StatusCode::Internal, what.str() + " printed no result");
  }
  return std::move(*value->getAsObject());
}

StatusOr<llvm::json::Object> bench::runPython(llvm::StringRef program, llvm::StringRef script, llvm::StringRef what,
                                              llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::SmallString<128> errorFile;
  if (llvm::sys::fs::createTemporaryFile("inlay-bench", "txt", errorFile))
    return Status(StatusCode::Internal, "can't create a temporary file");
  llvm::FileRemover removeError(errorFile);
  llvm::SmallVector<llvm::StringRef> command{program, "-c", script};
  command.append(arguments.begin(), arguments.end());
  return runCommand(program, what, command, errorFile.str());
}

StatusOr<llvm::json::Object> bench::runPythonFile(llvm::StringRef program, llvm::StringRef what,
                                                  llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::SmallVector<llvm::StringRef> command{program};
  command.append(arguments.begin(), arguments.end());
  return runCommand(program, what, command, /*errorFile=*/std::nullopt);
}

rt::StatusOr<std::vector<std::string>> bench::listModels(llvm::StringRef program, llvm::StringRef script) {
  rt::StatusOr<llvm::json::Object> listed = runPython(program, script, "inlay with transformers", {"list"});
  if (!listed.isOk())
    return listed.status();
  std::vector<std::string> names;
  if (const llvm::json::Array *array = listed->getArray("models"))
    for (const llvm::json::Value &name : *array)
      names.push_back(name.getAsString().value_or("").str());
  return names;
}

rt::StatusOr<std::vector<std::string>> bench::choose(llvm::StringRef option, llvm::ArrayRef<std::string> named,
                                                     std::vector<std::string> known) {
  for (const std::string &name : named)
    if (!llvm::is_contained(known, name))
      return rt::Status(rt::StatusCode::InvalidArgument, "option --" + option.str() + ": expected some of " +
                                                             llvm::join(known, ", ") + ", but got '" + name + "'" +
                                                             suggest(name, known));
  return named.empty() ? std::move(known) : named.vec();
}
