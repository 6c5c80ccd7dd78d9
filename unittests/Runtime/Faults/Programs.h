// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs over a real device whose engines have host versions, with what they compute.

#ifndef INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H
#define INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H

#include "PlanBuilder.h"

#include <functional>
#include <vector>

namespace inlay::rt::test {

/// One input 'x' and one result 'y' of as many floats, and a constant of weights for at most `kMaxLanes`.
struct FaultProgram {
  std::string name;
  std::shared_ptr<Plan> plan;
  /// The result of this lane.
  std::function<float(const std::vector<float> &x, size_t lane, float weight)> compute;
  bool canMove = true;         ///< every engine has a host version
  bool hasEffects = false;     ///< it calls back
  size_t importedElements = 0; ///< above 0 calls lend memory, and have so many lanes more
};

constexpr int64_t kMaxLanes = 200;

/// Several engines, memory that is lent, control flow, steps of the host between, an engine of several kernels over
/// scratch, callbacks, and one without host versions.
std::vector<FaultProgram> faultPrograms();

/// The host's code of all of them, and what they call back.
std::shared_ptr<HostSymbolResolver> faultLibrary();
Status faultCallback(uint32_t callback, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                     const std::vector<int64_t> &sizes);

/// Calls it with what `x` holds, and lends that or not.
Status callOnce(const FaultProgram &description, Program &program, const std::shared_ptr<std::vector<float>> &x,
                std::vector<float> &y);

/// Weights that are `value` and more, lane by lane.
Constant makeWeights(float value);
inline float weightOf(float value, int64_t lane) { return value + float(lane % 4); }

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_FAULTS_PROGRAMS_H
