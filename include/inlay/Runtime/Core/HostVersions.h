// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host versions: transforms a plan whose engines run on a device into one in which the host computes some of them.

#ifndef INLAY_RUNTIME_CORE_HOSTVERSIONS_H
#define INLAY_RUNTIME_CORE_HOSTVERSIONS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt {

/// Returns true if a checked plan has a host function that computes the same as this engine.
bool hasHostVersion(const Plan &plan, uint32_t engine);

/// Returns the numbers of the engines that steps of a checked plan launch.
std::vector<uint32_t> launchedEngines(const Plan &plan);

/// Returns a copy of a checked plan in which launches of `engines` are calls of their host versions. Buffers that no
/// remaining engine uses are in host memory. Other buffers are copied to the host before such a call and back after it.
/// Constants and code are shared with `plan`. The numbers of engines, functions, constants and existing buffers do not
/// change; step numbers may grow. If all launched engines are moved, no step or buffer needs a device.
///
/// The error names the engine that has no host version, or the launch that the host can't replace.
StatusOr<Plan> moveToHost(const Plan &plan, const std::vector<uint32_t> &engines);

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_HOSTVERSIONS_H
