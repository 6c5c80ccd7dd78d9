// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder for files that nobody is to find later, however the process ends.

#ifndef INLAY_TOOLS_INLAYRUN_TEMPORARY_H
#define INLAY_TOOLS_INLAYRUN_TEMPORARY_H

#include "inlay/Runtime/Core/Status.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace inlay::tools {

/// A folder of files, one at a time. It goes with this object, and when SIGINT, SIGTERM or SIGHUP ends the process.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder() { remove(); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  rt::Status make();
  void remove();

  const std::string &path() const { return path_; } ///< empty if there is none

private:
  std::string path_;
};

/// Runs a program and waits; its exit status, or 128 and more if a signal ended it. Its standard input is `input`,
/// from the start, unless that is negative. A signal that ends this process ends the program first.
rt::StatusOr<int> runAndWait(const std::vector<std::string> &words, int input);

/// Removes the folder that there is, for handlers of signals: it calls nothing that they may not.
void removeTemporaryFiles();

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_TEMPORARY_H
