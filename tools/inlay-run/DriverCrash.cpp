// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Installs signal handlers while driver code runs, and prints which drivers were loaded.

#include "DriverCrash.h"
#include "Temporary.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace inlay;

static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// The message. It is formatted beforehand, because a signal handler may not allocate.
static std::string words;

static void onCrash(int number) {
  if (write(STDERR_FILENO, words.data(), words.size()) < 0) {
    // There is no other way to report it.
  }
  tools::removeTemporaryFiles();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

tools::DriverCrash::DriverCrash(const char *doing) {
  const char *drivers = std::getenv("VK_DRIVER_FILES");
  words = fmt::format(
      "error: a crash while {}, most likely in a Vulkan driver: {}; select other drivers with VK_DRIVER_FILES\n", doing,
      drivers && *drivers ? fmt::format("VK_DRIVER_FILES={}", drivers)
                          : "VK_DRIVER_FILES isn't set, so all installed drivers were loaded");
  for (int number : kSignals)
    std::signal(number, onCrash);
}

tools::DriverCrash::~DriverCrash() {
  for (int number : kSignals)
    std::signal(number, SIG_DFL);
}
