// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runner: how engines of targets from outside run. A target leaves a `plan.foreign_engine` with the name of its runner
// and a payload; the program finds the runner by that name and hands it the payload once, when it is loaded.

#ifndef INLAY_RUNTIME_CORE_RUNNER_H
#define INLAY_RUNTIME_CORE_RUNNER_H

#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// A tensor in host memory: dense row-major bytes that the caller keeps alive during the call.
struct TensorView {
  void *data = nullptr;
  ElementType element = ElementType::F32;
  std::vector<int64_t> dims;
  /// Keeps `data` too, for longer than the call if a device that hangs may still be at it. Null: the call's end is the
  /// end of all use.
  std::shared_ptr<const void> owner = nullptr;
};

/// An engine that its runner has loaded. The program owns it and may run it from several threads at a time.
class LoadedForeignEngine {
public:
  virtual ~LoadedForeignEngine() = default;
  /// Reads `inputs` and writes all of `outputs`. The status of a failure ends the call and reaches its caller with the
  /// segment's name in front.
  virtual Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) = 0;
};

/// Loads the engines that name it. It outlives the programs that it loaded engines for.
class Runner {
public:
  virtual ~Runner() = default;
  /// Takes over one engine. The payload may come from a file: a runner checks it, and refuses what it can't run by a
  /// status that says why. It is not called twice for one engine of a program.
  virtual StatusOr<std::shared_ptr<LoadedForeignEngine>> load(const ForeignEngine &engine) = 0;
};

/// Runners by the name that engines say.
using Runners = std::map<std::string, std::shared_ptr<Runner>>;

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_RUNNER_H
