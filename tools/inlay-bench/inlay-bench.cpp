// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-bench: measures one suite, prints its tables and writes the same figures as JSON.

#include "Suites/Suites.h"
#include "ToolOptions.h"

#include "llvm/Support/FileSystem.h"

using namespace inlay;
namespace cl = llvm::cl;

static cl::opt<std::string> suiteName(cl::Positional, cl::cat(tools::toolCategory()), cl::desc("<suite>"));
static cl::opt<std::string> json("json", cl::cat(tools::toolCategory()), cl::value_desc("file"),
                                 cl::desc("File for the figures, the command and the machine as JSON"));
static cl::opt<unsigned> repeats("repeats", cl::cat(tools::toolCategory()), cl::init(3),
                                 cl::desc("Runs of each measurement; the figure is their median; default: 3"));

static int measure(const bench::Suite &suite, int argc, char **argv) {
  std::error_code error;
  std::unique_ptr<llvm::raw_fd_ostream> file; // opened first, so that an error comes before the measurement
  if (!json.empty())
    file = std::make_unique<llvm::raw_fd_ostream>(json, error);
  if (error)
    return tools::fail({rt::StatusCode::NotFound, "can't write '" + json + "': " + error.message()});
  bench::Figures figures(suite.name, bench::describeCommand(argc, argv));
  if (rt::Status status = suite.run(repeats, figures); !status.isOk())
    return tools::fail(status);
  if (file) {
    figures.write(*file);
    file->close();
    error = file->error();
    file->clear_error();
  }
  return error ? tools::fail({rt::StatusCode::Internal, "can't write '" + json + "': " + error.message()}) : 0;
}

int main(int argc, char **argv) {
  std::string overview = "Measures a suite:";
  llvm::SmallVector<cl::OptionCategory *> categories;
  for (const bench::Suite &suite : bench::getSuites()) {
    overview += std::string("\n  ") + suite.name + "  " + suite.summary;
    categories.push_back(suite.options);
  }
  tools::parseOptions(argc, argv, overview, categories);
  rt::StatusOr<bench::Suite> suite = bench::findSuite(suiteName);
  if (!suite.isOk())
    return tools::fail(suite.status());
  if (rt::Status status = bench::checkOptions(*suite); !status.isOk())
    return tools::fail(status);
  if (repeats < 1)
    return tools::fail({rt::StatusCode::InvalidArgument, "option --repeats: expected at least 1, but got 0"});
  return measure(*suite, argc, argv);
}
