// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-run: compiles a module and runs it.

#include "CompileOptions.h"
#include "Run.h"

#include "llvm/Support/CommandLine.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::cat(tools::toolCategory()), cl::desc("<module.mlir>"),
                                  cl::init("-"));
static cl::list<std::string> inputs("input", cl::cat(tools::toolCategory()), cl::CommaSeparated,
                                    cl::desc("Arguments: .npy files in order, or one .npz file by name"));
static cl::list<std::string> sizes("size", cl::cat(tools::toolCategory()), cl::CommaSeparated,
                                   cl::value_desc("name=number"),
                                   cl::desc("Sizes of arguments without a file; default: the least from 1 on"));
static cl::opt<uint64_t> seed("seed", cl::cat(tools::toolCategory()), cl::init(0),
                              cl::desc("Seed for arguments without a file"));
static cl::opt<std::string> output("output", cl::cat(tools::toolCategory()),
                                   cl::desc("File for results, .npy or .npz; default: print a summary"));
static cl::opt<bool> compare("compare", cl::cat(tools::toolCategory()),
                             cl::desc("Run on the host alone too and print the largest difference"));
static cl::opt<std::string> repeat("time", cl::cat(tools::toolCategory()), cl::ValueOptional, cl::value_desc("number"),
                                   cl::desc("Time this many runs (default 10)"));
static cl::opt<std::string> profiled("profile", cl::cat(tools::toolCategory()), cl::ValueOptional,
                                     cl::value_desc("number or .json file"),
                                     cl::desc("Time segments, kernels and ops over this many runs (default 10), beside "
                                              "what the cost model says; to a file: a trace of a run for Perfetto"));
static cl::opt<std::string>
    from("from", cl::cat(tools::toolCategory()), cl::init("import"),
         cl::desc("First phase to run, for a module that inlay-compile --to stopped before it"));
static cl::opt<bool> list("list-devices", cl::cat(tools::toolCategory()), cl::desc("Print the Vulkan devices and end"));

int main(int argc, char **argv) {
  tools::parseCompileOptions(argc, argv, "Inlay runner");
  if (list) {
    rt::Status status = tools::listDevices();
    return status.isOk() ? 0 : tools::fail(status);
  }
  rt::StatusOr<CompileRequest> request = tools::makeRequest(input);
  if (!request.isOk())
    return tools::fail(request.status());
  rt::StatusOr<Phase> first = tools::parsePhase("from", from);
  if (!first.isOk())
    return tools::fail(first.status());
  request->options.from = *first;
  tools::RunOptions options{
      {inputs.begin(), inputs.end()}, {sizes.begin(), sizes.end()}, seed, output.getValue(), compare};
  rt::Status status =
      tools::readRuns("time", repeat.getNumOccurrences() ? &repeat.getValue() : nullptr, options.repeat);
  if (status.isOk())
    status = tools::readProfile(profiled.getNumOccurrences() ? &profiled.getValue() : nullptr, options);
  if (status.isOk())
    status = tools::run(*request, options);
  return status.isOk() ? 0 : tools::fail(status);
}
