// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-compile: runs the phases from --from to --to on a module and prints what comes out.

#include "CompileOptions.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::cat(tools::toolCategory()), cl::desc("<module.mlir>"),
                                  cl::init("-"));
static cl::opt<std::string> output("o", cl::cat(tools::toolCategory()),
                                   cl::desc("File for the module; default: standard output"), cl::init("-"));
static cl::opt<std::string> from("from", cl::cat(tools::toolCategory()),
                                 cl::desc("First phase: import, rewrite, partition, shape, convert, stitch"),
                                 cl::init("import"));
static cl::opt<std::string> to("to", cl::cat(tools::toolCategory()), cl::desc("Last phase"), cl::init("stitch"));

int main(int argc, char **argv) {
  tools::parseCompileOptions(argc, argv, "Inlay compiler");
  rt::StatusOr<Phase> first = tools::parsePhase("from", from), last = tools::parsePhase("to", to);
  if (!first.isOk() || !last.isOk())
    return tools::fail(first.isOk() ? last.status() : first.status());
  if (*first > *last)
    return tools::fail({rt::StatusCode::InvalidArgument, "expected --from to name no later phase than --to"});
  rt::StatusOr<CompileRequest> request = tools::makeRequest(input);
  if (!request.isOk())
    return tools::fail(request.status());
  request->options.from = *first;
  request->options.to = *last;
  std::string notice;
  rt::StatusOr<std::string> text = runPhases(*request, &notice);
  tools::printNotice(notice);
  if (!text.isOk())
    return tools::fail(text.status());
  std::error_code error;
  llvm::raw_fd_ostream stream(output, error);
  if (error)
    return tools::fail({rt::StatusCode::NotFound, "can't write '" + output + "': " + error.message()});
  stream << *text;
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error ? tools::fail({rt::StatusCode::Internal, "can't write '" + output + "': " + error.message()}) : 0;
}
