// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The models suite: the architectures of inlay_models by Inlay and by its peers.

#include "Contest/Contest.h"
#include "Contest/ContestOptions.h"
#include "Contest/PythonPeer.h"
#include "Suites.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
using rt::StatusOr;
namespace cl = llvm::cl;

static cl::list<std::string> modelNames("models", cl::CommaSeparated, cl::cat(modelsCategory()),
                                        cl::desc("Models; default: all of inlay_models"));
static cl::opt<std::string> scale("scale", cl::cat(modelsCategory()), cl::init("usual"),
                                  cl::desc("Size of the models: usual or tiny; default: usual"));

static Status run(unsigned repeats, Figures &figures) {
  StatusOr<std::vector<std::string>> types = getDtypes();
  StatusOr<std::vector<std::string>> scales = choose("scale", {scale}, {"usual", "tiny"});
  for (const Status &status : {types.status(), scales.status()})
    INLAY_RETURN_IF_ERROR(status);
  std::vector<std::string> routes = getRoutes();
  if (routes.empty())
    routes = {"vulkan+host+torch", "host+torch", "torch"};
  return runContest({"models", "models", modelNames, std::move(routes), std::move(*types), scale, getThreads()},
                    repeats, figures);
}

const Suite &bench::modelsSuite() {
  static const Suite suite = {"models", "compares models with peers: targets, times, memory, differences",
                              &modelsCategory(), run, /*hasPeers=*/true};
  return suite;
}
