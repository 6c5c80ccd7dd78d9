// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-run: compiles a module and runs it.

#include "CompileOptions.h"
#include "Run.h"

#include "llvm/Support/CommandLine.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("<module.mlir>"), cl::init("-"));
static cl::list<std::string> inputs("input", cl::CommaSeparated,
                                    cl::desc("Arguments: .npy files in order, or one .npz file by name"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::desc("Seed for arguments without a file"));
static cl::opt<std::string> output("output", cl::desc("File for results, .npy or .npz; default: print a summary"));
static cl::opt<bool> compare("compare", cl::desc("Run on the host alone too and print the largest difference"));
static cl::opt<unsigned> repeat("time", cl::ValueOptional, cl::init(0), cl::desc("Time this many runs (default 10)"));
static cl::opt<bool> list("list-devices", cl::desc("Print the Vulkan devices and end"));

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Inlay runner\n");
  if (list) {
    rt::Status status = tools::listDevices();
    return status.isOk() ? 0 : tools::fail(status);
  }
  rt::StatusOr<CompileRequest> request = tools::makeRequest(input);
  if (!request.isOk())
    return tools::fail(request.status());
  tools::RunOptions options;
  options.inputs.assign(inputs.begin(), inputs.end());
  options.seed = seed;
  options.output = output;
  options.compare = compare;
  options.repeat = repeat.getNumOccurrences() && repeat == 0 ? 10 : repeat;
  rt::Status status = tools::run(*request, options);
  return status.isOk() ? 0 : tools::fail(status);
}
