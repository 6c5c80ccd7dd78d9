// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeviceCaps: a device's facts as plain data, so that choices made from them are pure functions.

#ifndef INLAY_RUNTIME_VULKAN_DEVICECAPS_H
#define INLAY_RUNTIME_VULKAN_DEVICECAPS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// Matrices that are multiplied and added up at once, as VkCooperativeMatrixPropertiesKHR has them: `rows` x `depth` of
/// `lhs` times `depth` x `columns` of `rhs`, plus `start`.
struct MatrixProperties {
  enum class Scope { Subgroup, Other };

  uint32_t rows = 0, columns = 0, depth = 0;
  std::string lhs, rhs, start, result; ///< types of elements: f16 to f64, s8 to s64, u8 to u64; empty for others
  bool saturates = false;
  Scope scope = Scope::Subgroup; ///< whose invocations share the matrices
};

struct DeviceCaps {
  std::string name;
  std::string driver;      ///< driver name and version, for humans and cache keys
  std::string unusable;    ///< why this device can't be used; empty if it can
  uint32_t apiVersion = 0; ///< as VK_MAKE_API_VERSION
  uint32_t vendorId = 0;
  bool discrete = false;
  bool software = false; ///< a CPU implementation (lavapipe, SwiftShader)
  bool unifiedMemory = false;
  uint32_t subgroupSize = 0;
  std::array<uint32_t, 3> maxWorkgroupCount = {0, 0, 0};
  std::array<uint32_t, 3> maxWorkgroupSize = {0, 0, 0};
  uint32_t maxWorkgroupInvocations = 0;
  uint32_t maxWorkgroupMemory = 0; ///< bytes
  uint32_t maxPushConstantBytes = 0;
  uint32_t maxStorageBuffersPerStage = 0;
  uint64_t maxStorageBufferRange = 0; ///< bytes
  uint64_t maxAllocationBytes = 0;
  bool float16 = false, float64 = false, int8 = false, int16 = false, int64 = false;
  bool storage8 = false, storage16 = false;
  bool memoryModel = false; ///< the Vulkan memory model
  bool subgroupArithmetic = false, subgroupShuffle = false;
  bool subgroupBallot = false; ///< with it, an invocation can hand a value to all others of its subgroup
  bool fullSubgroups = false;  ///< pipelines may ask for subgroups without inactive invocations
  uint32_t minSubgroupSize = 0, maxSubgroupSize = 0; ///< what a pipeline may ask for
  uint32_t storageOffsetAlignment = 256;
  uint32_t maxTexelElements = 65536;      ///< of one texel buffer
  bool prefersTexels = false;             ///< texel buffers are read faster than storage buffers
  std::vector<MatrixProperties> matrices; ///< what kernels may multiply at once

  /// What every device that this runtime accepts has at least: Vulkan 1.3's required limits and no optional feature.
  /// The target to compile for when there is no device to ask.
  static DeviceCaps computeDefault();
};

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_DEVICECAPS_H
