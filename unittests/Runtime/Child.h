// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks in a child of fork.

#ifndef INLAY_UNITTESTS_RUNTIME_CHILD_H
#define INLAY_UNITTESTS_RUNTIME_CHILD_H

#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace inlay::rt::test {

/// Returns true if `check()` is true in a child of fork. A child that hangs is ended by SIGALRM.
inline bool holdsInChild(const std::function<bool()> &check) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CHILD_H
