// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-compile: runs the phases from --from to --to on a module and writes the result.

#include "CompileOptions.h"
#include "Output.h"

#include "llvm/Support/CommandLine.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::cat(tools::toolCategory()), cl::desc("<module.mlir>"),
                                  cl::init("-"));
static cl::opt<std::string>
    output("o", cl::cat(tools::toolCategory()), cl::value_desc("file"),
           cl::desc("File for the text of the module or, if it ends in .inlay, for a program that "
                    "runs without the compiler; default: standard output"),
           cl::init("-"));
static cl::opt<std::string> weightsFile("weights-file", cl::cat(tools::toolCategory()), cl::value_desc("name"),
                                        cl::desc("Name of a safetensors file beside the .inlay file for the weights"));
static cl::opt<bool> replaceWeights("replace-weights", cl::cat(tools::toolCategory()),
                                    cl::desc("Replace an existing --weights-file that has other contents"));
static cl::opt<std::string> key("sign", cl::cat(tools::toolCategory()), cl::value_desc("key file"),
                                cl::desc("Ed25519 private key (PEM) to sign the .inlay file; writes <file>.sig"));
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
  rt::Status status = tools::compileTo(*request, {output, weightsFile, replaceWeights, key});
  return status.isOk() ? 0 : tools::fail(status);
}
