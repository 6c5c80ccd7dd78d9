// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TemporaryFolder: a folder for files that are removed however the process ends.

#ifndef INLAY_TOOLS_INLAYRUN_TEMPORARY_H
#define INLAY_TOOLS_INLAYRUN_TEMPORARY_H

#include "inlay/Runtime/Core/Status.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace inlay::tools {

/// A folder without subfolders. At most one exists at a time. It is removed by the destructor, and when SIGINT, SIGTERM
/// or SIGHUP ends the process.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder() { remove(); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  rt::Status make();
  void remove();

  const std::string &path() const { return path_; } ///< Empty if there is no folder.

private:
  std::string path_;
};

/// Runs a program and waits. Returns its exit status, or 128 plus the signal that ended it. Its standard input is
/// `input` from the start, unless that is negative. A signal that ends this process ends the program first.
rt::StatusOr<int> runAndWait(const std::vector<std::string> &words, int input);

/// Removes the temporary folder if there is one. Safe to call in signal handlers.
void removeTemporaryFiles();

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_TEMPORARY_H
