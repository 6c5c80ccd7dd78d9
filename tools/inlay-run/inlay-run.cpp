// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-run: runs a compiled program, or compiles a module and runs it. Of the compiler it knows the name alone.

#include "Options.h"
#include "Run.h"

#include <cstdio>

using namespace inlay;

static int fail(const rt::Status &status) {
  std::fflush(stdout);
  if (!status.message().empty()) // else the compiler has said it
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  std::string help;
  rt::StatusOr<tools::RunOptions> options = tools::parseOptions({argv + 1, argv + argc}, help);
  if (!options.isOk())
    return fail(options.status());
  if (!help.empty()) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  rt::Status status = options->listDevices ? tools::listDevices() : tools::run(*options);
  return status.isOk() ? 0 : fail(status);
}
