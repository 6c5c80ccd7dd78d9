// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeviceCaps: the properties of a device as plain data, so that decisions based on them are pure functions.

#ifndef INLAY_RUNTIME_VULKAN_DEVICECAPS_H
#define INLAY_RUNTIME_VULKAN_DEVICECAPS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::rt::vulkan {

/// A matrix product that a device computes at once (VkCooperativeMatrixPropertiesKHR): `rows` x `depth` of `lhs`
/// times `depth` x `columns` of `rhs`, plus `start`.
struct MatrixProperties {
  enum class Scope { Subgroup, Other };

  uint32_t rows = 0, columns = 0, depth = 0;
  std::string lhs, rhs, start, result; ///< Element types: f16 to f64, s8 to s64, u8 to u64; empty for others.
  bool saturates = false;
  Scope scope = Scope::Subgroup; ///< The scope whose invocations share the matrices.
};

struct DeviceCaps {
  std::string name;
  std::string driver;      ///< Driver name and version, for messages and cache keys.
  std::string unusable;    ///< Reason why this device can't be used; empty if it can.
  uint32_t apiVersion = 0; ///< Encoded as VK_MAKE_API_VERSION.
  uint32_t vendorId = 0;
  bool discrete = false;
  bool software = false; ///< True for a CPU implementation (lavapipe, SwiftShader).
  bool unifiedMemory = false;
  uint32_t subgroupSize = 0;
  std::array<uint32_t, 3> maxWorkgroupCount = {0, 0, 0};
  std::array<uint32_t, 3> maxWorkgroupSize = {0, 0, 0};
  uint32_t maxWorkgroupInvocations = 0;
  uint32_t maxWorkgroupMemory = 0; ///< In bytes.
  uint32_t maxPushConstantBytes = 0;
  uint32_t maxStorageBuffersPerStage = 0;
  uint64_t maxStorageBufferRange = 0; ///< In bytes.
  uint64_t maxAllocationBytes = 0;
  bool float16 = false, float64 = false, int8 = false, int16 = false, int64 = false;
  bool storage8 = false, storage16 = false;
  bool memoryModel = false; ///< True if it supports the Vulkan memory model.
  bool subgroupArithmetic = false, subgroupShuffle = false;
  bool subgroupBallot = false; ///< True if an invocation can broadcast a value to its subgroup.
  bool fullSubgroups = false;  ///< True if pipelines may require subgroups without inactive invocations.
  uint32_t minSubgroupSize = 0, maxSubgroupSize = 0; ///< Subgroup sizes that a pipeline may require.
  uint32_t storageOffsetAlignment = 256;
  uint32_t maxTexelElements = 65536;      ///< Maximum number of elements of a texel buffer.
  bool prefersTexels = false;             ///< True if texel buffers are read faster than storage buffers.
  std::vector<MatrixProperties> matrices; ///< Matrix products that kernels may use.

  /// Returns the minimum capabilities of a device that this runtime accepts: the limits that Vulkan 1.3 requires and no
  /// optional feature. The compiler uses them if there is no device to query.
  static DeviceCaps computeDefault();
};

} // namespace inlay::rt::vulkan

#endif // INLAY_RUNTIME_VULKAN_DEVICECAPS_H
