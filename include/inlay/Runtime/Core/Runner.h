// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runner: runs engines of targets that an embedder adds. Such a target emits a `plan.foreign_engine` with the name of
// its runner and a payload. The program finds the runner by that name and passes it the payload once, at load time.

#ifndef INLAY_RUNTIME_CORE_RUNNER_H
#define INLAY_RUNTIME_CORE_RUNNER_H

#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inlay::rt {

/// A tensor in host memory: dense row-major bytes that the caller keeps valid during the call.
struct TensorView {
  void *data = nullptr;
  ElementType element = ElementType::F32;
  std::vector<int64_t> dims;
  /// Owner of `data`, or null. An owner is retained after the call if a hanging device may still access the memory.
  /// Without an owner, `data` is not used after the call.
  std::shared_ptr<const void> owner = nullptr;
};

/// An engine that its runner has loaded. The program owns it and may run it from several threads at a time.
class LoadedForeignEngine {
public:
  virtual ~LoadedForeignEngine() = default;
  /// Reads `inputs` and writes all of `outputs`. An error ends the call; its message gets the segment's name in front.
  virtual Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) = 0;
};

/// Loads the foreign engines that name it. It must outlive the programs that it loaded engines for.
class Runner {
public:
  virtual ~Runner() = default;
  /// Loads one engine. The payload may come from a file: the runner must check it and return an error for a payload
  /// that it can't run. It is called once for each engine of a program.
  virtual StatusOr<std::shared_ptr<LoadedForeignEngine>> load(const ForeignEngine &engine) = 0;
};

/// Runners by the name that foreign engines use.
using Runners = std::map<std::string, std::shared_ptr<Runner>>;

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_RUNNER_H
