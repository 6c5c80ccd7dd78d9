// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Paths for files of a test.

#ifndef INLAY_UNITTESTS_RUNTIME_TEMPORARYPATH_H
#define INLAY_UNITTESTS_RUNTIME_TEMPORARYPATH_H

#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace inlay::rt::test {

/// Returns the path of a temporary file or folder that no other process uses. Tests run at the same time.
inline std::string temporaryPath(const std::string &name) {
  return testing::TempDir() + "inlay-" + std::to_string(getpid()) + "-" + name;
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_TEMPORARYPATH_H
