// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Kernels.h"

#include "Runtime/Vulkan/Pipeline/SpirvEntry.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::test;
using namespace inlay::rt::vulkan;

TEST(SpirvEntry, FindsNameAndBlock) {
  auto entry = findEntry(binaryKernel("add", "OpFAdd").spirv, "anything");
  ASSERT_TRUE(entry.isOk()) << entry.status().message();
  EXPECT_EQ(entry->name, "add");
  EXPECT_EQ(*entry->localSize, (std::array<uint32_t, 3>{64, 1, 1}));
}

TEST(SpirvEntry, RefusesWhatIsNoModule) {
  EXPECT_FALSE(findEntry({}, "add").isOk());
  EXPECT_FALSE(findEntry({0x03022307, 0, 0, 0, 0}, "add").isOk()) << "the other byte order";
  EXPECT_EQ(findEntry({0x07230203, 0, 0, 0, 0}, "add").status().message(),
            "SPIR-V module: expected a compute entry point 'add', but none of its 0 has this name");
}

TEST(SpirvEntry, EveryTruncationAndEveryFlippedLengthEndsInAStatus) {
  const std::vector<uint32_t> words = binaryKernel("add", "OpFAdd").spirv;
  for (size_t i = 0; i < words.size(); ++i) {
    (void)findEntry(std::vector<uint32_t>(words.begin(), words.begin() + i), "add");
    std::vector<uint32_t> broken = words;
    broken[i] ^= 0xffff0000u;
    (void)findEntry(broken, "add");
  }
}

TEST(SpirvEntry, AnInstructionBeyondTheEndIsNamed) {
  EXPECT_EQ(findEntry({0x07230203, 0, 0, 0, 0, 0x00050011}, "add").status().message(),
            "SPIR-V module: the instruction at word 5 has a length of 5 with 1 words left");
  EXPECT_EQ(findEntry({0x07230203, 0, 0, 0, 0, 0x00000011}, "add").status().message(),
            "SPIR-V module: the instruction at word 5 has a length of 0 with 1 words left");
}
