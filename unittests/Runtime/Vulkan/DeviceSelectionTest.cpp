// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Runtime/Vulkan/DeviceSelection.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::vulkan;

namespace {

DeviceCaps make(const std::string &name, bool discrete, bool software, const std::string &unusable = "") {
  DeviceCaps caps;
  caps.name = name;
  caps.discrete = discrete;
  caps.software = software;
  caps.unusable = unusable;
  return caps;
}

struct DeviceSelection : testing::Test {
  std::vector<DeviceCaps> devices = {make("llvmpipe (LLVM 15)", false, true), make("Intel UHD", false, false),
                                     make("Old GPU", true, false, "it has Vulkan 1.1.0, but 1.3 is needed"),
                                     make("NVIDIA H1", true, false), make("NVIDIA H2", true, false)};
  size_t choose(const std::string &selector, const std::string &environment = "") {
    auto index = chooseDevice(devices, selector, environment);
    EXPECT_TRUE(index.isOk()) << index.status().message();
    return index.isOk() ? *index : 99;
  }
  std::string error(const std::string &selector, const std::string &environment = "") {
    return chooseDevice(devices, selector, environment).status().message();
  }
};

} // namespace

TEST_F(DeviceSelection, PrefersDiscreteThenIntegratedThenSoftware) {
  EXPECT_EQ(choose(""), 3u);
  devices.resize(3);
  EXPECT_EQ(choose(""), 1u);
  devices.resize(1);
  EXPECT_EQ(choose(""), 0u);
}

TEST_F(DeviceSelection, TakesAnIndexOrPartOfAName) {
  EXPECT_EQ(choose("1"), 1u);
  EXPECT_EQ(choose("LLVMPIPE"), 0u);
  EXPECT_EQ(choose("h2"), 4u);
  EXPECT_EQ(choose("15"), 0u) << "not an index, but a part of a name";
}

TEST_F(DeviceSelection, TheSelectorBeatsTheEnvironment) {
  EXPECT_EQ(choose("", "intel"), 1u);
  EXPECT_EQ(choose("llvmpipe", "intel"), 0u);
}

TEST_F(DeviceSelection, SaysWhyNothingFits) {
  EXPECT_EQ(error("2"), "device 2 (Old GPU) can't be used: it has Vulkan 1.1.0, but 1.3 is needed");
  EXPECT_EQ(error("", "old").substr(0, 78),
            "no usable device has 'old' (from INLAY_DEVICE) in its name; there are 5 device");
  EXPECT_EQ(error("77").substr(0, 52), "device 77 is out of range: there are 5 devices (0: l");
  EXPECT_EQ(error("99999999999999999999").substr(0, 20), "no usable device has");
  devices.clear();
  EXPECT_EQ(error(""), "there is no Vulkan device");
  devices = {make("Old GPU", true, false, "it has no queue for compute")};
  EXPECT_EQ(error(""), "no usable Vulkan device among 0: Old GPU (unusable: it has no queue for compute)");
}
