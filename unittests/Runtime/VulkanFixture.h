// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture that opens a real device, or skips the test if there is none.

#ifndef INLAY_UNITTESTS_RUNTIME_VULKANFIXTURE_H
#define INLAY_UNITTESTS_RUNTIME_VULKANFIXTURE_H

#include "Kernels.h"
#include "Runtime/Vulkan/Engine/OpenContext.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace inlay::rt::test {

struct VulkanFixture : testing::Test {
  void SetUp() override {
    auto opened = vulkan::openContext("");
    if (!opened.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << opened.status().message();
      GTEST_SKIP() << opened.status().message();
    }
    context = *opened;
    device = vulkan::makeDevice(context);
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(context->instance.log().take().message(), "");
    }
  }

  std::shared_ptr<DeviceBuffer> upload(const std::vector<float> &values) {
    auto buffer = device->allocate(values.size() * sizeof(float));
    EXPECT_TRUE(buffer.isOk()) << buffer.status().message();
    EXPECT_EQ(device->upload(**buffer, values.data(), values.size() * sizeof(float)).message(), "");
    return *buffer;
  }
  std::vector<float> download(DeviceBuffer &buffer) {
    std::vector<float> values(buffer.size() / sizeof(float));
    EXPECT_EQ(device->download(buffer, values.data(), buffer.size()).message(), "");
    return values;
  }
  /// Loads, records and runs an engine once.
  Status run(const Engine &engine, const std::vector<std::shared_ptr<DeviceBuffer>> &arguments,
             const InputDims &inputs = {}) {
    auto loaded = device->load(engine);
    if (!loaded.isOk())
      return loaded.status();
    auto command = device->record(**loaded, arguments, inputs);
    if (!command.isOk())
      return command.status();
    return device->run({command->get()});
  }

  std::shared_ptr<vulkan::Context> context;
  std::shared_ptr<Device> device;
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_VULKANFIXTURE_H
