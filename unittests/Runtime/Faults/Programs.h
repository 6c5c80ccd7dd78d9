// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs for a real device whose engines have host versions, with functions that compute the expected results.

#ifndef INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H
#define INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H

#include "PlanBuilder.h"

#include <functional>
#include <vector>

namespace inlay::rt::test {

/// A program with input 'x' and result 'y' of the same number of floats, and a constant of weights for up to
/// `kMaxLanes`.
struct FaultProgram {
  std::string name;
  std::shared_ptr<Plan> plan;
  /// Returns the expected result of this element.
  std::function<float(const std::vector<float> &x, size_t lane, float weight)> compute;
  bool canMove = true;         ///< True if every engine has a host version.
  bool hasEffects = false;     ///< True if it calls back.
  size_t importedElements = 0; ///< If above 0, calls import memory and have this many more elements.
};

constexpr int64_t kMaxLanes = 200;

/// Returns programs with several engines, imported memory, control flow, host steps in between, an engine of several
/// kernels with scratch, callbacks, and one without host versions.
std::vector<FaultProgram> faultPrograms();

/// The host code and the callback of all programs.
std::shared_ptr<HostSymbolResolver> faultLibrary();
Status faultCallback(uint32_t callback, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                     const std::vector<int64_t> &sizes);

/// Calls a program with `x`. The memory of `x` has an owner if the program imports memory.
Status callOnce(const FaultProgram &description, Program &program, const std::shared_ptr<std::vector<float>> &x,
                std::vector<float> &y);

/// Returns weights from `value` on, by element.
Constant makeWeights(float value);
inline float weightOf(float value, int64_t lane) { return value + float(lane % 4); }

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H
