// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture for containers in memory and in files of a folder that is removed with the test.

#ifndef INLAY_UNITTESTS_RUNTIME_CONTAINER_CONTAINERFIXTURE_H
#define INLAY_UNITTESTS_RUNTIME_CONTAINER_CONTAINERFIXTURE_H

#include "Image.h"
#include "PlanText.h"
#include "RandomPlan.h"
#include "inlay/Runtime/Container/Container.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inlay::rt::test {

struct ContainerTest : testing::Test {
  void SetUp() override {
    unsetenv("INLAY_PUBLIC_KEY");
    std::string name = (std::filesystem::temp_directory_path() / "inlay-container-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string &name) const { return folder + "/" + name; }

  static std::string load(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
  }
  static void store(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  /// Returns the bytes that are written for a plan.
  std::string write(const Plan &plan, const ContainerExtras &extras = {}) {
    Status status = writeContainer(at("a.inlay"), plan, extras, {"", true});
    EXPECT_TRUE(status.isOk()) << status.message();
    return load(at("a.inlay"));
  }
  /// Returns the error of reading a file of these bytes; empty if there is none.
  std::string refusal(const std::string &bytes) {
    store(at("b.inlay"), bytes);
    StatusOr<ContainerContents> saved = readContainer(at("b.inlay"));
    std::string message = saved.isOk() ? "" : saved.status().message();
    std::string prefix = "'" + at("b.inlay") + "': ";
    return message.compare(0, prefix.size(), prefix) == 0 ? message.substr(prefix.size()) : message;
  }

  std::string folder;
};

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CONTAINER_CONTAINERFIXTURE_H
