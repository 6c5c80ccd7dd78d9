// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out the scratch buffers of an engine by the dispatches that use them. Temporaries between segments are in
// slots: Core/Execute/PlanInstance.cpp (`assignSlots`).

#include "Scratch.h"

#include "inlay/Runtime/Core/Schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::rt::vulkan {

static StatusOr<std::vector<size_t>> evaluateSizes(const Engine &engine, const DeviceCaps &caps,
                                                   const InputDims &inputs) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < engine.scratch.size(); ++i) {
    StatusOr<int64_t> bytes = engine.scratch[i].evaluate(inputs);
    if (!bytes.isOk())
      return Status(bytes.status().code(), fmt::format("scratch {}: {}", i, bytes.status().message()));
    if (*bytes < 0 || uint64_t(*bytes) > caps.maxAllocationBytes)
      return Status(
          *bytes < 0 ? StatusCode::InvalidArgument : StatusCode::ResourceExhausted,
          fmt::format("scratch {} has {} bytes, but the device allows 0 to {}", i, *bytes, caps.maxAllocationBytes));
    sizes.push_back(std::max<size_t>(*bytes, 1));
  }
  return sizes;
}

/// Returns the live ranges of scratch buffers, as numbers of dispatches.
static std::vector<Lifetime> findLifetimes(const Engine &engine) {
  std::vector<Lifetime> lifetimes(engine.scratch.size());
  for (uint32_t i = 0; i < engine.dispatches.size(); ++i) {
    for (uint32_t buffer : engine.dispatches[i].buffers) {
      if (buffer < engine.arguments)
        continue;
      Lifetime &lifetime = lifetimes[buffer - engine.arguments];
      lifetime = {std::min(lifetime.first, i), std::max(lifetime.last, i)};
    }
  }
  return lifetimes;
}

StatusOr<ScratchLayout> layOutScratch(const Engine &engine, const DeviceCaps &caps, const InputDims &inputs) {
  StatusOr<std::vector<size_t>> sizes = evaluateSizes(engine, caps, inputs);
  if (!sizes.isOk())
    return sizes.status();
  ScratchLayout layout;
  layout.sizes = std::move(*sizes);
  std::vector<size_t> slotSizes;
  std::vector<uint32_t> slots = assignSlots(findLifetimes(engine), layout.sizes, slotSizes);
  std::vector<uint64_t> offsets;
  for (size_t bytes : slotSizes) {
    offsets.push_back(layout.bytes);
    layout.bytes +=
        (bytes + caps.storageOffsetAlignment - 1) / caps.storageOffsetAlignment * caps.storageOffsetAlignment;
  }
  for (uint32_t slot : slots)
    layout.offsets.push_back(offsets[slot]);
  return layout;
}

} // namespace inlay::rt::vulkan
