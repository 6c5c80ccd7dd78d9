// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Releases and acquires the interpreter lock. When the interpreter exits, CPython before 3.14 ends each thread that
// requests the lock by unwinding its stack (pthread_exit). C++ code does not survive this: the process would abort.
// Such a thread sleeps here until the process has ended, as CPython does from 3.14 on.

#ifndef INLAY_PYTHON_SRC_INTERPRETERLOCK_H
#define INLAY_PYTHON_SRC_INTERPRETERLOCK_H

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace inlay {

/// Returns the result of `function`. It may acquire the lock and run Python, but must not have objects with destructors
/// on its stack while it does.
template <typename Function>
auto sleepAtTheEnd(Function function) {
  try {
    return function();
  } catch (abi::__forced_unwind &) { // Leaving this block in any way would end the process.
    for (;;)
      pause();
  }
}

/// Releases the lock during its lifetime, so that other threads can run Python.
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

/// Acquires the lock during its lifetime, on any thread, to run Python.
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
