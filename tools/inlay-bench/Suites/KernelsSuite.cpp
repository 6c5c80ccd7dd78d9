// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels suite: measures single ops in the shapes of real models in Inlay and its peers, and the limits of the
// machine.

#include "Contest/Contest.h"
#include "Contest/ContestOptions.h"
#include "Suites.h"

using namespace inlay;
using namespace inlay::bench;
using rt::Status;
namespace cl = llvm::cl;

static cl::list<std::string> kernelNames("kernels", cl::CommaSeparated, cl::cat(kernelsCategory()),
                                         cl::desc("Kernels to measure; default: all"));

static Status run(unsigned repeats, Figures &figures) {
  std::vector<std::string> routes = getRoutes();
  if (routes.empty())
    routes = {"host"};
  rt::StatusOr<std::vector<std::string>> dtypes = getDtypes();
  if (!dtypes.isOk())
    return dtypes.status();
  return runContest({"kernels", "kernels", kernelNames, std::move(routes), std::move(*dtypes), "usual", getThreads()},
                    repeats, figures);
}

const Suite &bench::kernelsSuite() {
  static const Suite suite = {"kernels", "compares single ops with peers and with the limits of the machine",
                              &kernelsCategory(), run, /*hasPeers=*/true};
  return suite;
}
