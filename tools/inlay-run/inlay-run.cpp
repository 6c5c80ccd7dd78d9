// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// inlay-run: runs a compiled program, or compiles a module, in another process, and runs it.

#include "Options.h"
#include "Run.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

using namespace inlay;

static int fail(const rt::Status &status) {
  std::fflush(stdout);
  if (!status.message().empty()) // empty if the compiler has printed the error
    std::fprintf(stderr, "error: %s\n", rt::escapeControls(status.message(), "\n\t").c_str());
  return 1;
}

/// Returns the error of a failed write to standard output. `code` is its errno, or 0 if that is unknown.
static rt::Status writeError(int code) {
  return {rt::StatusCode::Internal,
          fmt::format("can't write to standard output{}{}", code ? ": " : "", code ? std::strerror(code) : "")};
}

static rt::Status runWith(std::vector<std::string> words) {
  std::string help;
  rt::StatusOr<tools::RunOptions> options = tools::parseOptions(std::move(words), help);
  if (!options.isOk())
    return options.status();
  if (help.empty())
    return options->listDevices ? tools::listDevices() : tools::run(*options);
  errno = 0;
  return std::fputs(help.c_str(), stdout) < 0 ? writeError(errno) : rt::Status::ok();
}

/// Flushes standard output. Returns the error if that fails.
static rt::Status flush() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return rt::Status::ok();
  return writeError(errno);
}

int main(int argc, char **argv) {
  rt::Status status = rt::Status::ok();
  try {
    status = rt::guard([&] { return runWith({argv + 1, argv + argc}); });
  } catch (const std::system_error &error) { // thrown by fmt::print
    status = {rt::StatusCode::Internal, fmt::format("can't write to standard output: {}", error.code().message())};
  }
  status = status.isOk() ? flush() : status;
  return status.isOk() ? 0 : fail(status);
}
