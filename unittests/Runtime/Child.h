// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks in a child of fork.

#ifndef INLAY_UNITTESTS_RUNTIME_CHILD_H
#define INLAY_UNITTESTS_RUNTIME_CHILD_H

#include <functional>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace inlay::rt::test {

/// Returns true if `check()` is true in a child of fork. A child that hangs is ended by SIGALRM.
inline bool holdsInChild(const std::function<bool()> &check) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool holds = check();
    syscall(SYS_exit_group, holds ? 0 : 1); // in _exit the thread sanitizer counts the parent's threads as leaked
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CHILD_H
