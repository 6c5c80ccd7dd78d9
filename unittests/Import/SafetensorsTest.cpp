// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the reader of weight files. It must either read a file or report an error, and the data must lie within the
// file.

#include "inlay/Import/Weights.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace inlay;

namespace {

/// Returns a file: the length of its header, the header, and the data.
std::string makeFile(const std::string &header, const std::string &data) {
  uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char *>(&size), sizeof size);
  return bytes + header + data;
}

class SafetensorsTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("weights", "safetensors", path));
    file = path.str().str();
    remover.setFile(file, /*deleteIt=*/true);
  }

  llvm::Expected<std::vector<Weight>> read(const std::string &bytes) {
    std::error_code error;
    llvm::raw_fd_ostream stream(file, error);
    stream << bytes;
    stream.close();
    return readSafetensors(file);
  }

  /// Returns the error for a malformed file.
  std::string refuse(const std::string &bytes) {
    llvm::Expected<std::vector<Weight>> weights = read(bytes);
    if (weights) {
      ADD_FAILURE() << "the file was read";
      return "";
    }
    return llvm::toString(weights.takeError());
  }

  std::string file;
  llvm::FileRemover remover;
};

TEST_F(SafetensorsTest, ReadsNamesTypesAndBytes) {
  std::string header = R"({"__metadata__": {"format": "pt"},
    "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
    "b.c": {"dtype": "I8", "shape": [2, 3], "data_offsets": [4, 10]},
    "none": {"dtype": "F64", "shape": [0], "data_offsets": [10, 10]}})";
  auto weights = read(makeFile(header, "0123456789"));
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (const Weight &weight : *weights)
    found[weight.key] = {weight.type, std::string(static_cast<const char *>(weight.data), weight.size)};
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(found["a"], std::pair(std::string("F32[]"), std::string("0123")));
  EXPECT_EQ(found["b.c"], std::pair(std::string("I8[2,3]"), std::string("456789")));
  EXPECT_EQ(found["none"], std::pair(std::string("F64[0]"), std::string()));
}

TEST_F(SafetensorsTest, KeepsItsBytesWhileAnyWeightIsThere) {
  auto weights = read(makeFile(R"({"a": {"dtype": "I8", "shape": [3], "data_offsets": [1, 4]}})", "abcd"));
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  Weight kept = weights->front();
  weights->clear();
  EXPECT_EQ(std::memcmp(kept.data, "bcd", 3), 0);
}

TEST_F(SafetensorsTest, RefusesWhatIsNotWhole) {
  EXPECT_NE(refuse("").find("expected at least 8 bytes, but got 0"), std::string::npos);
  EXPECT_NE(refuse(std::string(8, '\xff')).find("expected a header of 18446744073709551615 bytes"), std::string::npos);
  EXPECT_NE(refuse(makeFile("{", "")).find("malformed header"), std::string::npos);
  EXPECT_NE(refuse(makeFile("7", "")).find("expected the header to be a JSON object"), std::string::npos);
  EXPECT_NE(refuse(makeFile(R"({"a": 1})", "")).find("tensor 'a' has no data_offsets"), std::string::npos);
}

TEST_F(SafetensorsTest, RefusesOffsetsOutsideTheData) {
  for (const char *offsets : {"[0, 5]", "[-1, 3]", "[3, 2]", "[0]", "[0, 1, 2]", "[0.5, 2]", "[\"0\", 2]",
                              "[9223372036854775807, 9223372036854775807]", "[0, 18446744073709551615]", "7"}) {
    std::string header = std::string(R"({"a": {"dtype": "I8", "shape": [2], "data_offsets": )") + offsets + "}}";
    EXPECT_NE(refuse(makeFile(header, "abcd")).find("tensor 'a' has no data_offsets"), std::string::npos) << offsets;
  }
}

TEST_F(SafetensorsTest, RefusesNestingThatWouldExhaustTheStack) {
  std::string deep = R"({"a": )" + std::string(1 << 20, '[');
  EXPECT_NE(refuse(makeFile(deep, "")).find("nested levels"), std::string::npos);
  // Brackets in names do not count as nesting.
  std::string name = R"({"[[[[[[[[[[[[\"[[[": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}})";
  auto weights = read(makeFile(name, "x"));
  EXPECT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
}

TEST_F(SafetensorsTest, ReadsOrRefusesDamagedFiles) {
  const std::string header = R"({"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
    "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [8, 11]}})";
  const std::string good = makeFile(header, "0123456789a");
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = random() % 3 ? "0123456789[]{},:\"\\ -e.x"[random() % 23] : random() % 256;
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    llvm::Expected<std::vector<Weight>> weights = read(bytes);
    if (!weights) {
      EXPECT_NE(llvm::toString(weights.takeError()).find(file), std::string::npos);
      continue;
    }
    for (const Weight &weight : *weights) {
      std::string copy(static_cast<const char *>(weight.data), weight.size);
      EXPECT_LE(weight.size, bytes.size());
      EXPECT_NE(bytes.find(copy), std::string::npos);
    }
  }
}

} // namespace
