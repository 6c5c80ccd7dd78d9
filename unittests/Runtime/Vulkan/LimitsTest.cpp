// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Vulkan/Limits.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::vulkan;

namespace {

struct LimitsTest : testing::Test {
  LimitsTest() {
    kernel.name = "k";
    kernel.bindings.assign(4, Access::Read);
    kernel.pushConstants = 32;
    kernel.block = {128, 1, 1};
  }
  std::string error() { return checkKernelLimits(caps, kernel).message(); }

  DeviceCaps caps = DeviceCaps::computeDefault();
  Kernel kernel;
};

} // namespace

TEST_F(LimitsTest, WhatIsJustAllowedPasses) {
  EXPECT_EQ(error(), "");
  EXPECT_TRUE(checkGrid(caps, {65535, 0, 1}).isOk());
  EXPECT_TRUE(checkStorageRange(caps, 1 << 27).isOk());
}

TEST_F(LimitsTest, TheSubgroupSizeIsChosenOnIntelOnly) {
  struct Facts {
    const char *device;
    uint32_t vendor, usual, min, max;
    bool full;
    uint32_t expected;
  };
  const Facts devices[] = {{"Intel Arc A770", 0x8086, 32, 8, 32, true, 16},
                           {"Intel Arc B580", 0x8086, 32, 16, 32, true, 16},
                           {"Intel UHD 630", 0x8086, 32, 8, 32, true, 16},
                           {"Intel without full subgroups", 0x8086, 32, 8, 32, false, 32},
                           {"Intel with one size", 0x8086, 32, 32, 32, true, 32},
                           {"Radeon RX 7900 XTX", 0x1002, 64, 32, 64, true, 64},
                           {"Radeon RX 6800 XT", 0x1002, 64, 32, 64, true, 64},
                           {"Radeon RX 480", 0x1002, 64, 64, 64, true, 64},
                           {"GeForce RTX 4090", 0x10de, 32, 32, 32, true, 32},
                           {"GeForce GTX 1080", 0x10de, 32, 32, 32, true, 32},
                           {"Adreno 740", 0x5143, 64, 64, 128, true, 64},
                           {"Mali-G715", 0x13b5, 16, 16, 16, true, 16},
                           {"Apple M2 (Honeykrisp)", 0x106b, 32, 32, 32, true, 32}};
  for (const Facts &facts : devices) {
    caps.vendorId = facts.vendor;
    caps.subgroupSize = facts.usual;
    caps.minSubgroupSize = facts.min;
    caps.maxSubgroupSize = facts.max;
    caps.fullSubgroups = facts.full;
    EXPECT_EQ(chooseSubgroupSize(caps), facts.expected) << facts.device;
    kernel.requirements = {"subgroup-size=" + std::to_string(facts.expected)};
    kernel.block = {64, 1, 1};
    EXPECT_TRUE(checkRequirement(caps, kernel.requirements.front()).isOk()) << facts.device;
  }
}

TEST_F(LimitsTest, MessagesGiveBothNumbers) {
  kernel.block = {1, 129, 1};
  EXPECT_EQ(error(), "kernel 'k': block y is 129, but the device allows 128");
  kernel.block = {64, 4, 1};
  EXPECT_EQ(error(), "kernel 'k': a block has 256 invocations, but the device allows 128");
  kernel.block = {1, 1, 1};
  kernel.bindings.resize(5);
  EXPECT_EQ(error(), "kernel 'k': binds 5 buffers, but the device allows 4");
  kernel.bindings.resize(1);
  kernel.pushConstants = 33;
  EXPECT_EQ(error(), "kernel 'k': has 132 bytes of push constants, but the device allows 128");
  EXPECT_EQ(checkGrid(caps, {1, 1, 65536}).message(), "grid z is 65536, but the device allows 65535");
  EXPECT_EQ(checkGrid(caps, {-1, 1, 1}).message(), "grid x is -1");
  EXPECT_EQ(checkStorageRange(caps, (1 << 27) + 1).message(),
            "a buffer has 134217729 bytes, but the device's kernels see at most 134217728");
}

TEST_F(LimitsTest, RequirementsAreFeaturesOfTheDevice) {
  for (const char *feature : {"float16", "float64", "int8", "int16", "int64", "storage8", "storage16", "memory-model",
                              "subgroup-arithmetic", "subgroup-ballot", "subgroup-shuffle"}) {
    Status status = checkRequirement(caps, feature);
    EXPECT_EQ(status.code(), StatusCode::Unavailable);
    EXPECT_EQ(status.message(), std::string("needs '") + feature + "', which device 'default' doesn't have");
  }
  caps.float16 = true;
  EXPECT_TRUE(checkRequirement(caps, "float16").isOk());
  EXPECT_EQ(checkRequirement(caps, "float61").message(), "unknown requirement 'float61'");
}

TEST_F(LimitsTest, WorkgroupMemoryIsAtMostTheDevices) {
  caps.maxWorkgroupMemory = 32768;
  EXPECT_TRUE(checkRequirement(caps, "workgroup-memory=32768").isOk());
  EXPECT_EQ(checkRequirement(caps, "workgroup-memory=32772").message(),
            "needs 32772 bytes of workgroup memory, but the device has 32768");
  EXPECT_EQ(checkRequirement(caps, "workgroup-memory=8x").message(), "unknown requirement 'workgroup-memory=8x'");
}

TEST_F(LimitsTest, TexelBuffersHaveAtMostTheDevicesElements) {
  EXPECT_TRUE(checkRequirement(caps, "texel-elements=65536").isOk());
  EXPECT_EQ(checkRequirement(caps, "texel-elements=65537").message(),
            "needs texel buffers of 65537 elements, but the device allows 65536");
  EXPECT_TRUE(checkBoundRange(caps, BindingKind::ScalarTexels, 4 * 65536).isOk());
  EXPECT_TRUE(checkBoundRange(caps, BindingKind::VectorTexels, 16 * 65536 + 15).isOk());
  EXPECT_TRUE(checkBoundRange(caps, BindingKind::Storage, 1 << 27).isOk());
  EXPECT_EQ(checkBoundRange(caps, BindingKind::ScalarTexels, 16 * 65536).message(),
            "a texel buffer has 262144 elements, but the device allows 65536");
}

TEST_F(LimitsTest, MatricesAreOfAShapeThatTheDeviceHas) {
  EXPECT_EQ(checkRequirement(caps, "cooperative-matrix=16x16x16xf16xf32").message(),
            "needs cooperative matrices of 16x16x16xf16xf32, but the device 'default' has none");
  caps.matrices = {{16, 8, 16, "f16", "f16", "f32", "f32"}, {8, 8, 32, "s8", "s8", "s32", "s32"}};
  EXPECT_TRUE(checkRequirement(caps, "cooperative-matrix=16x8x16xf16xf32").isOk());
  EXPECT_TRUE(checkRequirement(caps, "cooperative-matrix=8x8x32xs8xs32").isOk());
  EXPECT_EQ(checkRequirement(caps, "cooperative-matrix=16x8x16xf16xf16").message(),
            "needs cooperative matrices of 16x8x16xf16xf16, but the device 'default' has 16x8x16xf16xf32, "
            "8x8x32xs8xs32");
  EXPECT_EQ(checkRequirement(caps, "cooperative-matrix=").code(), StatusCode::Unavailable);
}

TEST_F(LimitsTest, MatricesForKernelsAreSubgroupsOwnAndOfOneTypeEach) {
  MatrixProperties plain{16, 16, 16, "f16", "f16", "f32", "f32"};
  auto with = [&](auto change) {
    MatrixProperties changed = plain;
    change(changed);
    return changed;
  };
  caps.matrices = {plain,
                   with([](MatrixProperties &matrix) { matrix.scope = MatrixProperties::Scope::Other; }),
                   with([](MatrixProperties &matrix) { matrix.saturates = true; }),
                   with([](MatrixProperties &matrix) { matrix.rhs = "f32"; }),
                   with([](MatrixProperties &matrix) { matrix.lhs = matrix.rhs = ""; }),
                   with([](MatrixProperties &matrix) { matrix.start = "f16"; }),
                   with([](MatrixProperties &matrix) { matrix.start = matrix.result = ""; })};
  EXPECT_EQ(listMatrixShapes(caps), std::vector<std::string>{"16x16x16xf16xf32"});
}

TEST_F(LimitsTest, SubgroupSizeIsTheDevicesOrOneItCanChoose) {
  caps.subgroupSize = 8;
  caps.minSubgroupSize = 4;
  caps.maxSubgroupSize = 16;
  EXPECT_TRUE(checkRequirement(caps, "subgroup-size=16").isOk());
  EXPECT_EQ(checkRequirement(caps, "subgroup-size=32").message(),
            "needs a subgroup size of 32, but the device has 8 (from 4 to 16)");
  EXPECT_FALSE(checkRequirement(caps, "subgroup-size=12").isOk());
  EXPECT_EQ(checkRequirement(caps, "subgroup-size=8x").message(), "unknown requirement 'subgroup-size=8x'");
  kernel.requirements = {"subgroup-size=4"};
  EXPECT_EQ(requiredSubgroupSize(kernel), 4u);
}
