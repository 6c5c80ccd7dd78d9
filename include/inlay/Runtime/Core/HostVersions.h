// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan whose engines run on a device to one where the host computes some of them.

#ifndef INLAY_RUNTIME_CORE_HOSTVERSIONS_H
#define INLAY_RUNTIME_CORE_HOSTVERSIONS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// True if a checked plan has a host function that computes what this engine does.
bool hasHostVersion(const Plan &plan, uint32_t engine);

/// The engines that steps of a checked plan launch, by number.
std::vector<uint32_t> launchedEngines(const Plan &plan);

/// The same checked plan with launches of `engines` replaced by calls of their host versions. Buffers that no engine
/// left uses lie in host memory then; others are copied there before such a call and back after it. Constants and code
/// stay shared with `plan`. The numbers of engines, functions, constants and of the plan's own buffers stay the same;
/// those of steps may grow. With all launched engines moved no step or buffer needs a device.
/// An error names the engine that has no host version, or a launch that the host can't do in its stead.
StatusOr<Plan> moveToHost(const Plan &plan, const std::vector<uint32_t> &engines);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_HOSTVERSIONS_H
