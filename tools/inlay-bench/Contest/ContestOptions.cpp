// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the flags that the suites `models` and `kernels` share. Flags of one suite are in Suites/.

#include "ContestOptions.h"
#include "PythonPeer.h"

using namespace inlay;
namespace cl = llvm::cl;

// Options of other files refer to these categories in their constructors, which may run before those of this file.
cl::OptionCategory &bench::modelsCategory() {
  static cl::OptionCategory category("Suite models");
  return category;
}

cl::OptionCategory &bench::kernelsCategory() {
  static cl::OptionCategory category("Suite kernels");
  return category;
}

static cl::list<std::string> routes("routes", cl::CommaSeparated, cl::cat(bench::modelsCategory()),
                                    cl::cat(bench::kernelsCategory()),
                                    cl::desc("Targets of Inlay, joined by '+'; a final @activations keeps activations "
                                             "off the first one; default: vulkan+host+torch,host+torch,torch for "
                                             "models, host for kernels"));
static cl::list<std::string> dtypes("dtypes", cl::CommaSeparated, cl::cat(bench::modelsCategory()),
                                    cl::cat(bench::kernelsCategory()),
                                    cl::desc("Dtypes of weights and inputs: f32, f16, bf16; default: f32"));

/// Renames an option that LLVM's library has registered under `name`. ThinLTO has --threads, for example.
static bool freeName(llvm::StringRef name) {
  auto &options = cl::getRegisteredOptions();
  if (auto taken = options.find(name); taken != options.end())
    taken->second->setArgStr("llvm-threads");
  return true;
}
[[maybe_unused]] static const bool isFree = freeName("threads");

static cl::opt<unsigned> threads("threads", cl::cat(bench::modelsCategory()), cl::cat(bench::kernelsCategory()),
                                 cl::init(2), cl::desc("Threads of every contender; default: 2"));

std::vector<std::string> bench::getRoutes() { return routes; }

rt::StatusOr<std::vector<std::string>> bench::getDtypes() {
  rt::StatusOr<std::vector<std::string>> types = choose("dtypes", dtypes, {"f32", "f16", "bf16"});
  if (types.isOk() && dtypes.empty())
    types->resize(1);
  return types;
}

unsigned bench::getThreads() { return threads; }
