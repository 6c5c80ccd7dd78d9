// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Session: the states that a sequence of calls of a program reads and writes, such as the caches of a language model.

#ifndef INLAY_RUNTIME_CORE_SESSION_H
#define INLAY_RUNTIME_CORE_SESSION_H

#include "inlay/Runtime/Core/Runner.h"

namespace inlay::rt {

/// The states of one sequence of calls of a program. Sessions share the program's constants and are otherwise
/// independent of each other. A session may outlive its program, and must outlive its calls.
///
/// A session serves one call at a time. A call or a function of this class that finds it in use by another call or
/// function fails with InvalidArgument and changes nothing.
class Session {
public:
  /// Numbers of states and their new values.
  using Values = std::vector<std::pair<uint32_t, TensorView>>;

  virtual ~Session() = default;

  /// Frees all states. The next call starts with zeros, and its inputs choose the dims.
  virtual Status reset() = 0;

  /// Returns the dims of a state. Fails if no call or `write` has given it any since the session was made or reset.
  virtual StatusOr<std::vector<int64_t>> dims(uint32_t state) const = 0;

  /// Returns a copy of a state in memory of the runtime, which lives as long as the owner of the copy. Fails if the
  /// state has no dims yet, or if a failed call or write has left it undefined.
  virtual StatusOr<TensorView> read(uint32_t state) const = 0;

  /// Replaces a state. Its dims must be possible for the type of the state in the plan. The next call checks that its
  /// inputs give the state these dims. If a device fails, the state is undefined.
  virtual Status write(uint32_t state, const TensorView &value) = 0;

  /// Replaces several different states. Checks all values and allocates all memory before it writes the first state, so
  /// that no state changes after such an error. States are written in the order of `values`. If a device fails, the
  /// error names the state. That state and those after it in `values` are undefined, those before it have their new
  /// values, and those that are not in `values` are unchanged.
  virtual Status write(const Values &values) = 0;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_SESSION_H
