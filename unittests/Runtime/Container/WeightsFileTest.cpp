// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of constants in a safetensors file beside the container.

#include "../PlanBuilder.h"
#include "ContainerFixture.h"
#include "Weights.h"

#include <array>
#include <chrono>
#include <set>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct WeightsFileTest : ContainerTest {
  WeightsFileTest() {
    uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
    builder.copy(x, y);
    add("b", {1, 2, 3}, "fc.bias");
    add("w", std::vector<float>(2000, 0.5F), "fc.weight");
    add("eps", {1e-5F}, "");
    add("w2", {7}, "fc.weight"); // the same name with other bytes
    builder.constant(5);
    builder.plan->constants.back().key = "a \"step\"";
  }
  void add(const char *name, const std::vector<float> &values, const char *key) {
    builder.constant(name, MemorySpace::Host, values);
    builder.plan->constants.back().key = key;
  }
  Status save(const std::string &weights = "w.safetensors", bool replace = false, const char *name = "m.inlay") {
    return writeContainer(at(name), *builder.plan, {}, {weights, false, replace});
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  }
  std::string error() {
    auto saved = readContainer(at("m.inlay"));
    std::string message = saved.isOk() ? "" : saved.status().message();
    size_t start = message.find("': ");
    return start == std::string::npos ? message : message.substr(start + 3);
  }

  PlanBuilder builder;
};

} // namespace

TEST_F(WeightsFileTest, NamedConstantsLieOutside) {
  ASSERT_TRUE(save().isOk());
  auto saved = readContainer(at("m.inlay"));
  ASSERT_TRUE(saved.isOk()) << saved.status().message();
  EXPECT_EQ(describe(*saved->plan), describe(*builder.plan));
  std::string weights = load(at("w.safetensors"));
  EXPECT_EQ(weights.size(), 8 + loadLittle<uint64_t>(weights.data()) + 8 + 2003 * sizeof(float));
  EXPECT_EQ((8 + loadLittle<uint64_t>(weights.data())) % 64, 0u) << "the first tensor starts on a cache line";
  std::string header = weights.substr(8, loadLittle<uint64_t>(weights.data()));
  EXPECT_LT(header.size() - header.find_last_not_of(' '), 65u);
  EXPECT_EQ(header.substr(0, header.find_last_not_of(' ') + 1),
            "{\"a \\\"step\\\"\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
            "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[8,20]},"
            "\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[2000],\"data_offsets\":[20,8020]}}");
  EXPECT_LT(load(at("m.inlay")).size(), 4096u + 200u) << "the container holds only two constants";
  std::string first = load(at("m.inlay"));
  ASSERT_TRUE(save().isOk());
  EXPECT_EQ(load(at("m.inlay")), first);
  EXPECT_EQ(load(at("w.safetensors")), weights);
}

TEST_F(WeightsFileTest, WideElementsComeFirst) {
  builder.plan->buffers.clear();
  builder.plan->constants.clear();
  for (auto [key, element] :
       {std::pair("a", ElementType::I8), {"d", ElementType::F32}, {"b", ElementType::F64}, {"c", ElementType::F32}}) {
    add("w", {1, 2}, key);
    Buffer &buffer = builder.plan->buffers.back();
    buffer.type = {element, {Expr(static_cast<int64_t>(8 / byteWidth(element)))}};
  }
  std::vector<ConstantPlace> places(4);
  std::string header = layOutWeights(*builder.plan, places).header;
  std::vector<size_t> order;
  for (const char *key : {"\"b\"", "\"c\"", "\"d\"", "\"a\""})
    order.push_back(header.find(key));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << header;
}

TEST_F(WeightsFileTest, AContainerInMemoryHasNoWeightsFile) {
  ASSERT_TRUE(save().isOk());
  EXPECT_EQ(readImage(load(at("m.inlay"))).status().message(), "needs a weights file, but the container is in memory");
}

TEST_F(WeightsFileTest, AnotherFileIsRefused) {
  ASSERT_TRUE(save().isOk());
  std::string weights = load(at("w.safetensors")), size = std::to_string(weights.size());
  weights.back() = static_cast<char>(weights.back() ^ 1);
  store(at("w.safetensors"), weights);
  EXPECT_EQ(error(), "weights file 'w.safetensors': its bytes don't match the hash in the container: it is not the "
                     "file that was saved "
                     "with the container");
  store(at("w.safetensors"), weights + "x");
  EXPECT_EQ(error(), "weights file 'w.safetensors': expected " + size + " bytes, but got " +
                         std::to_string(weights.size() + 1) + ": it is not the file that was saved with the container");
  std::filesystem::remove(at("w.safetensors"));
  EXPECT_EQ(error(), "weights file 'w.safetensors': can't be opened: No such file or directory");
  std::filesystem::create_directory(at("w.safetensors"));
  EXPECT_EQ(error(), "weights file 'w.safetensors': is a directory");
}

TEST_F(WeightsFileTest, TheSameContentsAreKept) {
  ASSERT_TRUE(save().isOk());
  std::filesystem::path weights = at("w.safetensors");
  auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(weights, before);
  ASSERT_TRUE(save("w.safetensors", false, "n.inlay").isOk());
  ASSERT_TRUE(save("w.safetensors", true, "o.inlay").isOk());
  EXPECT_EQ(std::filesystem::last_write_time(weights), before) << "the file was written again";
  for (const char *name : {"m.inlay", "n.inlay", "o.inlay"})
    EXPECT_TRUE(readContainer(at(name)).isOk()) << name;
}

TEST_F(WeightsFileTest, OtherContentsAreNotLost) {
  ASSERT_TRUE(save().isOk());
  std::string weights = load(at("w.safetensors"));
  const std::string refusal =
      "weights file 'w.safetensors': exists with other contents, which another container may need: save with another "
      "name, or allow replacing it (replace_weights=True, --replace-weights)";
  add("more", {1}, "more"); // another length
  EXPECT_EQ(save("w.safetensors", false, "n.inlay").message(), refusal);
  builder.plan->constants.pop_back();
  builder.plan->buffers.pop_back();
  auto other = std::make_shared<std::vector<float>>(2000, 0.5F); // differs in one value, at the end
  other->back() = 1;
  Constant &weight = builder.plan->constants[1];
  weight.data = other->data();
  weight.owner = other;
  EXPECT_EQ(save("w.safetensors", false, "n.inlay").message(), refusal);
  store(at("text"), "notes");
  EXPECT_EQ(save("text").message().substr(0, 41), "weights file 'text': exists with other co");
  EXPECT_EQ(load(at("w.safetensors")), weights);
  EXPECT_TRUE(readContainer(at("m.inlay")).isOk());
  EXPECT_EQ(files(), (std::set<std::string>{"m.inlay", "text", "w.safetensors"}));
  // The file is replaced on request.
  ASSERT_TRUE(save("w.safetensors", true, "n.inlay").isOk());
  EXPECT_TRUE(readContainer(at("n.inlay")).isOk());
  EXPECT_EQ(error(), "weights file 'w.safetensors': its bytes don't match the hash in the container: it is not the "
                     "file that was saved "
                     "with the container");
}

TEST_F(WeightsFileTest, WhatCannotBeReadIsNotReplaced) {
  std::filesystem::create_directory(at("w.safetensors"));
  EXPECT_EQ(save().message(), "weights file 'w.safetensors': is a directory");
  std::filesystem::remove(at("w.safetensors"));
  std::filesystem::create_symlink("/dev/null", at("w.safetensors"));
  EXPECT_EQ(save().message(), "weights file 'w.safetensors': is a link that leads out of the container's folder");
  EXPECT_EQ(files(), std::set<std::string>{"w.safetensors"});
}

TEST_F(WeightsFileTest, WeightsAreNotReplacedWithoutTheContainer) {
  ASSERT_TRUE(save().isOk());
  std::string weights = load(at("w.safetensors"));
  add("more", {1}, "more");
  std::filesystem::create_directory(at("folder"));
  EXPECT_FALSE(save("w.safetensors", true, "folder").isOk());
  EXPECT_EQ(load(at("w.safetensors")), weights);
  EXPECT_EQ(files(), (std::set<std::string>{"folder", "m.inlay", "w.safetensors"}));
}

TEST_F(WeightsFileTest, OfManyThatSaveAtOnceOneKindSucceeds) {
  PlanBuilder different;
  uint32_t x = different.input("x", {Expr(4)}), y = different.output("y", {Expr(4)});
  different.copy(x, y);
  different.constant("b", MemorySpace::Host, std::vector<float>(3000, 2));
  different.plan->constants.back().key = "b";
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    std::array<bool, 8> saved = {};
    for (size_t i = 0; i < saved.size(); ++i)
      threads.emplace_back([&, i] {
        const Plan &plan = i % 2 ? *different.plan : *builder.plan;
        saved[i] = writeContainer(at(std::to_string(i)), plan, {}, {"w.safetensors", false}).isOk();
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_NE(saved[0], saved[1]);
    for (size_t i = 0; i < saved.size(); ++i) {
      EXPECT_EQ(saved[i], saved[i % 2]);
      EXPECT_TRUE(!saved[i] || readContainer(at(std::to_string(i))).isOk());
    }
    for (const std::string &name : files())
      std::filesystem::remove(at(name));
  }
}

TEST_F(WeightsFileTest, ALinkMayNotLeadOutOfTheFolder) {
  ASSERT_TRUE(save().isOk());
  std::filesystem::create_directory(at("elsewhere"));
  std::filesystem::rename(at("w.safetensors"), at("elsewhere/w.safetensors"));
  std::filesystem::create_symlink("elsewhere/w.safetensors", at("w.safetensors"));
  EXPECT_EQ(error(), "weights file 'w.safetensors': is a link that leads out of the container's folder");
  std::filesystem::remove(at("w.safetensors"));
  std::filesystem::rename(at("elsewhere/w.safetensors"), at("v2.safetensors"));
  std::filesystem::create_symlink("v2.safetensors", at("w.safetensors"));
  EXPECT_EQ(error(), "") << "a link inside the folder is allowed";
  // The folder itself may be a link.
  std::filesystem::create_directory_symlink(folder, folder + "-link");
  EXPECT_TRUE(readContainer(folder + "-link/m.inlay").isOk());
  std::filesystem::remove(folder + "-link");
}

TEST_F(WeightsFileTest, ANameMayNotLeadOutOfTheFolder) {
  for (const char *name : {"../w.safetensors", "/tmp/w.safetensors", "a/b", ".", "..", "a\\b"}) {
    Status status = save(name);
    EXPECT_EQ(status.message(),
              "weights file '" + std::string(name) + "': expected the name of a file in the container's folder");
  }
  EXPECT_EQ(save("m.inlay").message(), "weights file 'm.inlay': expected another name than the container's");
  EXPECT_EQ(save("m.inlay.sig").message(), "weights file 'm.inlay.sig': expected another name than the signature's");
  // A name with a slash in a file.
  ASSERT_TRUE(save("../").isOk() == false);
  ASSERT_TRUE(save("abcdefgh").isOk());
  std::string image = load(at("m.inlay"));
  image.replace(image.find("abcdefgh"), 8, "../../ab");
  seal(image);
  store(at("m.inlay"), image);
  EXPECT_EQ(error(), "weights file '../../ab': expected the name of a file in the container's folder");
}

TEST_F(WeightsFileTest, AnOffsetThatIsNotAlignedIsRefused) {
  ASSERT_TRUE(save().isOk());
  std::string image = load(at("m.inlay"));
  size_t key = image.find("fc.bias");
  ASSERT_NE(key, std::string::npos);
  image[key + 7 + 1] = static_cast<char>(image[key + 7 + 1] + 1); // the offset follows the key and a bool
  seal(image);
  store(at("m.inlay"), image);
  EXPECT_EQ(error(), "constant 0 ('b'): expected an offset that is a multiple of 4 bytes, the width of its elements");
}
