// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the suites, and checks that options belong to the chosen suite. Each suite is in its own file.

#include "Suites.h"
#include "Contest/PythonPeer.h"
#include "ToolOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace inlay;
using namespace inlay::bench;
namespace cl = llvm::cl;

static cl::opt<bool> calibrate("calibrate", cl::cat(tools::toolCategory()),
                               cl::desc("Same as the suite calibrate: measures a cost model of this machine"));
static cl::opt<bool> tune("tune", cl::cat(tools::toolCategory()),
                          cl::desc("Same as the suite tune: measures the instruction costs of a Vulkan device"));

llvm::ArrayRef<Suite> bench::getSuites() {
  static const Suite suites[] = {partitionSuite(), rewriteSuite(),   modelsSuite(), kernelsSuite(),     sizesSuite(),
                                 launchesSuite(),  calibrateSuite(), tuneSuite(),   gpuCompilersSuite()};
  return suites;
}

rt::StatusOr<Suite> bench::findSuite(llvm::StringRef name) {
  for (auto [isGiven, suite] : {std::pair(calibrate.getValue(), "calibrate"), {tune.getValue(), "tune"}}) {
    if (isGiven && !name.empty() && name != suite)
      return rt::Status(rt::StatusCode::InvalidArgument, std::string("option --") + suite + " selects the suite " +
                                                             suite + ", but got the suite '" + name.str() + "'");
    if (isGiven)
      name = suite;
  }
  std::string names;
  for (const Suite &suite : getSuites()) {
    if (name == suite.name)
      return suite;
    names += (names.empty() ? "" : ", ") + std::string(suite.name);
  }
  return rt::Status(rt::StatusCode::InvalidArgument,
                    "expected a suite (" + names + "), but got " + (name.empty() ? "none" : "'" + name.str() + "'"));
}

rt::Status bench::checkOptions(const Suite &suite) {
  if (!getPeers().empty() && !suite.hasPeers)
    return {rt::StatusCode::InvalidArgument,
            std::string("option --against: the suite '") + suite.name + "' has no peers"};
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    for (const Suite &other : getSuites())
      if (option->getNumOccurrences() && !llvm::is_contained(option->Categories, suite.options) &&
          llvm::is_contained(option->Categories, other.options))
        return {rt::StatusCode::InvalidArgument, "option --" + name.str() + " is for the suite '" + other.name +
                                                     "', but the suite is '" + suite.name + "'"};
  return rt::Status::ok();
}

std::string bench::describeCommand(int argc, char **argv) {
  std::string command = llvm::sys::path::filename(argv[0]).str();
  for (llvm::StringRef argument : llvm::ArrayRef(argv + 1, argv + argc)) {
    auto [option, value] = argument.split('=');
    llvm::StringRef last = value.empty() ? option : value;
    if (llvm::sys::path::is_absolute(last))
      last = llvm::sys::path::filename(last);
    command += " " + (value.empty() ? "" : option.str() + "=") + last.str();
  }
  return command;
}
