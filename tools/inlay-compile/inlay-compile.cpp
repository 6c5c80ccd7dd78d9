// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-compile: runs the phases from --from to --to on a module and prints what comes out.

#include "CompileOptions.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("<module.mlir>"), cl::init("-"));
static cl::opt<std::string> output("o", cl::desc("File for the module; default: standard output"), cl::init("-"));
static cl::opt<std::string> from("from", cl::desc("First phase: import, rewrite, partition, shape, convert, stitch"),
                                 cl::init("import"));
static cl::opt<std::string> to("to", cl::desc("Last phase"), cl::init("stitch"));

static rt::StatusOr<Phase> parsePhase(const char *option, const std::string &name) {
  if (std::optional<Phase> phase = symbolizePhase(name))
    return *phase;
  return rt::Status(rt::StatusCode::InvalidArgument,
                    std::string("option --") + option +
                        ": expected import, rewrite, partition, shape, convert or stitch, but got '" + name + "'");
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Inlay compiler\n");
  rt::StatusOr<Phase> first = parsePhase("from", from), last = parsePhase("to", to);
  if (!first.isOk() || !last.isOk())
    return tools::fail(first.isOk() ? last.status() : first.status());
  if (*first > *last)
    return tools::fail({rt::StatusCode::InvalidArgument, "expected --from to name no later phase than --to"});
  rt::StatusOr<CompileRequest> request = tools::makeRequest(input);
  if (!request.isOk())
    return tools::fail(request.status());
  request->options.from = *first;
  request->options.to = *last;
  rt::StatusOr<std::string> text = runPhases(*request);
  if (!text.isOk())
    return tools::fail(text.status());
  std::error_code error;
  llvm::raw_fd_ostream stream(output, error);
  if (error)
    return tools::fail({rt::StatusCode::NotFound, "can't write '" + output + "': " + error.message()});
  stream << *text;
  return 0;
}
