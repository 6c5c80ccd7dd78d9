// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter's lock, let go of and taken. When the interpreter ends, CPython before 3.14 ends each thread that
// comes for the lock by unwinding its stack (pthread_exit), which C++ doesn't survive: the process would be aborted.
// Such a thread sleeps here instead, as it does from 3.14 on, until the process has ended.

#ifndef INLAY_PYTHON_SRC_INTERPRETERLOCK_H
#define INLAY_PYTHON_SRC_INTERPRETERLOCK_H

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace inlay {

/// What the function returns. It may take the lock and run Python, but must leave nothing to be destroyed where it
/// does.
template <typename Function>
auto sleepAtTheEnd(Function function) {
  try {
    return function();
  } catch (abi::__forced_unwind &) { // leaving this block by any way would end the process
    for (;;)
      pause();
  }
}

/// Lets others run Python while it lives.
class Unlocked {
public:
  Unlocked() = default;
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;
  ~Unlocked() {
    sleepAtTheEnd([this] { PyEval_RestoreThread(state_); });
  }

private:
  PyThreadState *state_ = PyEval_SaveThread();
};

/// Lets this thread, which may be any, run Python while it lives.
class Locked {
public:
  Locked() = default;
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;
  ~Locked() { PyGILState_Release(state_); }

private:
  PyGILState_STATE state_ = sleepAtTheEnd([] { return PyGILState_Ensure(); });
};

} // namespace inlay

#endif // INLAY_PYTHON_SRC_INTERPRETERLOCK_H
