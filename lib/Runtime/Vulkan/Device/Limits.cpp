// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks kernels, grids and buffer ranges against the limits of a device. DeviceQuery.cpp reads the limits.

#include "inlay/Runtime/Vulkan/Limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace inlay::rt::vulkan {

static constexpr char subgroupSizePrefix[] = "subgroup-size=";
static constexpr char workgroupMemoryPrefix[] = "workgroup-memory=";
static constexpr char texelElementsPrefix[] = "texel-elements=";
static constexpr char matrixPrefix[] = "cooperative-matrix=";

static Status unavailable(std::string message) { return {StatusCode::Unavailable, std::move(message)}; }

/// Returns the N of `prefix` followed by N; 0 if the text is something else or N exceeds `max`.
static uint32_t parseNumber(const std::string &requirement, const std::string &prefix, uint32_t max) {
  if (requirement.rfind(prefix, 0) != 0)
    return 0;
  const char *digits = requirement.c_str() + prefix.size();
  char *end = nullptr;
  unsigned long value = std::strtoul(digits, &end, 10);
  return end != digits && *end == 0 && value <= max ? static_cast<uint32_t>(value) : 0;
}

static uint32_t parseSubgroupSize(const std::string &requirement) {
  return parseNumber(requirement, subgroupSizePrefix, 1024);
}

static Status checkSubgroupSize(const DeviceCaps &caps, uint32_t size) {
  bool powerOfTwo = (size & (size - 1)) == 0;
  if (size == caps.subgroupSize || (powerOfTwo && size >= caps.minSubgroupSize && size <= caps.maxSubgroupSize))
    return Status::ok();
  return unavailable(fmt::format("needs a subgroup size of {}, but the device has {} (from {} to {})", size,
                                 caps.subgroupSize, caps.minSubgroupSize, caps.maxSubgroupSize));
}

std::vector<std::string> listMatrixShapes(const DeviceCaps &caps) {
  std::vector<std::string> shapes;
  for (const MatrixProperties &matrix : caps.matrices)
    if (matrix.scope == MatrixProperties::Scope::Subgroup && !matrix.saturates && !matrix.lhs.empty() &&
        matrix.lhs == matrix.rhs && !matrix.result.empty() && matrix.start == matrix.result)
      shapes.push_back(
          fmt::format("{}x{}x{}x{}x{}", matrix.rows, matrix.columns, matrix.depth, matrix.lhs, matrix.result));
  return shapes;
}

static Status checkMatrixShape(const DeviceCaps &caps, const std::string &shape) {
  std::vector<std::string> shapes = listMatrixShapes(caps);
  if (std::find(shapes.begin(), shapes.end(), shape) != shapes.end())
    return Status::ok();
  std::string has = shapes.empty() ? "none" : fmt::format("{}", fmt::join(shapes, ", "));
  return unavailable(
      fmt::format("needs cooperative matrices of {}, but the device '{}' has {}", shape, caps.name, has));
}

Status checkRequirement(const DeviceCaps &caps, const std::string &requirement) {
  if (uint32_t size = parseSubgroupSize(requirement))
    return checkSubgroupSize(caps, size);
  if (uint32_t bytes = parseNumber(requirement, workgroupMemoryPrefix, uint32_t(1) << 31)) {
    if (bytes <= caps.maxWorkgroupMemory)
      return Status::ok();
    return unavailable(
        fmt::format("needs {} bytes of workgroup memory, but the device has {}", bytes, caps.maxWorkgroupMemory));
  }
  if (uint32_t elements = parseNumber(requirement, texelElementsPrefix, uint32_t(1) << 31)) {
    if (elements <= caps.maxTexelElements)
      return Status::ok();
    return unavailable(
        fmt::format("needs texel buffers of {} elements, but the device allows {}", elements, caps.maxTexelElements));
  }
  if (requirement.rfind(matrixPrefix, 0) == 0)
    return checkMatrixShape(caps, requirement.substr(sizeof(matrixPrefix) - 1));
  const std::pair<const char *, bool> features[] = {
      {"float16", caps.float16},
      {"float64", caps.float64},
      {"int8", caps.int8},
      {"int16", caps.int16},
      {"int64", caps.int64},
      {"storage8", caps.storage8},
      {"storage16", caps.storage16},
      {"memory-model", caps.memoryModel},
      {"subgroup-arithmetic", caps.subgroupArithmetic},
      {"subgroup-ballot", caps.subgroupBallot},
      {"subgroup-shuffle", caps.subgroupShuffle},
  };
  for (auto [feature, present] : features) {
    if (requirement != feature)
      continue;
    if (present)
      return Status::ok();
    return unavailable(fmt::format("needs '{}', which device '{}' doesn't have", requirement, caps.name));
  }
  return {StatusCode::InvalidArgument, fmt::format("unknown requirement '{}'", requirement)};
}

uint32_t chooseSubgroupSize(const DeviceCaps &caps) {
  constexpr uint32_t intel = 0x8086, wanted = 16;
  bool isChoosable = caps.fullSubgroups && caps.minSubgroupSize <= wanted && wanted <= caps.maxSubgroupSize;
  return caps.vendorId == intel && !caps.software && isChoosable ? wanted : caps.subgroupSize;
}

uint32_t requiredSubgroupSize(const Kernel &kernel) {
  for (const std::string &requirement : kernel.requirements)
    if (uint32_t size = parseSubgroupSize(requirement))
      return size;
  return 0;
}

static Status checkBlock(const DeviceCaps &caps, const std::array<uint32_t, 3> &block) {
  for (int i = 0; i < 3; ++i)
    if (block[i] > caps.maxWorkgroupSize[i])
      return unavailable(
          fmt::format("block {} is {}, but the device allows {}", "xyz"[i], block[i], caps.maxWorkgroupSize[i]));
  uint64_t invocations = uint64_t(block[0]) * block[1] * block[2];
  if (invocations > caps.maxWorkgroupInvocations)
    return unavailable(
        fmt::format("a block has {} invocations, but the device allows {}", invocations, caps.maxWorkgroupInvocations));
  return Status::ok();
}

Status checkKernelLimits(const DeviceCaps &caps, const Kernel &kernel) {
  Status status = checkBlock(caps, kernel.block);
  for (const std::string &requirement : kernel.requirements)
    if (status.isOk())
      status = checkRequirement(caps, requirement);
  if (status.isOk() && kernel.bindings.size() > caps.maxStorageBuffersPerStage)
    status = unavailable(fmt::format("binds {} buffers, but the device allows {}", kernel.bindings.size(),
                                     caps.maxStorageBuffersPerStage));
  uint64_t pushBytes = uint64_t(kernel.pushConstants) * 4;
  if (status.isOk() && pushBytes > caps.maxPushConstantBytes)
    status = unavailable(
        fmt::format("has {} bytes of push constants, but the device allows {}", pushBytes, caps.maxPushConstantBytes));
  return status.isOk() ? status : Status(status.code(), fmt::format("kernel '{}': {}", kernel.name, status.message()));
}

Status checkGrid(const DeviceCaps &caps, const std::array<int64_t, 3> &grid) {
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 0)
      return {StatusCode::InvalidArgument, fmt::format("grid {} is {}", "xyz"[i], grid[i])};
    if (grid[i] > int64_t(caps.maxWorkgroupCount[i]))
      return unavailable(
          fmt::format("grid {} is {}, but the device allows {}", "xyz"[i], grid[i], caps.maxWorkgroupCount[i]));
  }
  return Status::ok();
}

Status checkStorageRange(const DeviceCaps &caps, uint64_t bytes) {
  if (bytes <= caps.maxStorageBufferRange)
    return Status::ok();
  return unavailable(
      fmt::format("a buffer has {} bytes, but the device's kernels see at most {}", bytes, caps.maxStorageBufferRange));
}

Status checkBoundRange(const DeviceCaps &caps, BindingKind kind, uint64_t bytes) {
  if (kind == BindingKind::Storage)
    return checkStorageRange(caps, bytes);
  uint64_t elements = bytes / (kind == BindingKind::VectorTexels ? 16 : 4);
  if (elements <= caps.maxTexelElements)
    return Status::ok();
  return unavailable(
      fmt::format("a texel buffer has {} elements, but the device allows {}", elements, caps.maxTexelElements));
}

} // namespace inlay::rt::vulkan
