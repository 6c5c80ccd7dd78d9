// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests for crashes of the machine: files are on the disk before they get their names, and the names before a call
// returns. The functions of this file replace the system's in the whole executable.
#include "../PlanBuilder.h"
#include "ContainerFixture.h"

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <sys/syscall.h>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// The recorded calls of this thread.
struct Calls {
  std::vector<std::string> made;
  size_t failing = SIZE_MAX; ///< Number of the fsync call that fails.
  size_t syncs = 0;
  size_t failingRename = SIZE_MAX; ///< Number of the call of rename or renameat2 that fails.
  size_t renames = 0;
  int error = EIO;               ///< Of the calls that fail.
  std::function<void()> onFault; ///< Called before a rename fails.
  std::string from;              ///< The old name of the last rename.
};
thread_local Calls *calls = nullptr;

/// Returns the last part of a path: "temporary of m.inlay" for "/tmp/f/m.inlay.123-4.tmp".
std::string shorten(const std::string &path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (name.size() < 4 || name.substr(name.size() - 4) != ".tmp")
    return name;
  return "temporary of " + name.substr(0, name.rfind('.', name.size() - 5));
}

int renameAs(const char *from, const char *to, unsigned flags) {
  if (calls) {
    calls->made.push_back("rename to " + shorten(to));
    calls->from = from;
    if (calls->renames++ == calls->failingRename) {
      if (calls->onFault)
        calls->onFault();
      errno = calls->error;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags));
}

} // namespace

extern "C" int fsync(int descriptor) {
  if (calls) {
    calls->made.push_back("sync " +
                          shorten(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor))));
    if (calls->syncs++ == calls->failing) {
      errno = calls->error;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char *from, const char *to) noexcept { return renameAs(from, to, 0); }
extern "C" int renameat2(int, const char *from, int, const char *to, unsigned flags) noexcept {
  return renameAs(from, to, flags);
}

namespace {

struct DurabilityTest : ContainerTest {
  DurabilityTest() {
    uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
    builder.copy(x, y);
    builder.constant("b", MemorySpace::Host, {1, 2, 3});
    builder.plan->constants.back().key = "b";
  }
  void TearDown() override {
    calls = nullptr;
    ContainerTest::TearDown();
  }
  Status save(bool replace = false) {
    return writeContainer(at("m.inlay"), *builder.plan, {}, {"w.safetensors", false, replace});
  }

  void addConstant() {
    builder.constant("more", MemorySpace::Host, {1});
    builder.plan->constants.back().key = "more";
  }

  /// Saves while call `number` of the kind `fault` fails: 0 concerns the weights file, 1 the container. Expects an
  /// error, the old `container`, and no temporary file.
  void expectFailedSave(size_t Calls::*fault, size_t number, const std::string &container) {
    watched = {};
    watched.*fault = number;
    calls = &watched;
    EXPECT_EQ(save(true).message(),
              "'" + at(number == 0 ? "w.safetensors" : "m.inlay") + "' can't be written: Input/output error");
    calls = nullptr;
    EXPECT_EQ(load(at("m.inlay")), container);
    size_t entries = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
      ++entries;
    EXPECT_EQ(entries, 2u) << "nothing else is left";
  }

  PlanBuilder builder;
  Calls watched;
};

} // namespace

TEST_F(DurabilityTest, FilesAreOnTheDiskBeforeTheyGetTheirNames) {
  calls = &watched;
  std::string place = shorten(folder);
  ASSERT_TRUE(writeContainer(at("m.inlay"), *builder.plan, {}).isOk());
  EXPECT_EQ(watched.made,
            (std::vector<std::string>{"sync temporary of m.inlay", "rename to m.inlay", "sync " + place}));
  for (bool replace : {false, true}) {
    watched.made.clear();
    ASSERT_TRUE(save(replace).isOk());
    EXPECT_EQ(watched.made, (std::vector<std::string>{"sync temporary of w.safetensors", "sync temporary of m.inlay",
                                                      "rename to w.safetensors", "sync " + place, "rename to m.inlay",
                                                      "sync " + place}));
    addConstant();
  }
}

TEST_F(DurabilityTest, WhatCannotBeStoredLeavesTheOldFiles) {
  ASSERT_TRUE(save().isOk());
  std::string container = load(at("m.inlay")), weights = load(at("w.safetensors"));
  addConstant();
  for (size_t failing : {0, 1}) {
    expectFailedSave(&Calls::failing, failing, container);
    EXPECT_EQ(load(at("w.safetensors")), weights);
  }
}

TEST_F(DurabilityTest, ARenameThatFailsLeavesNoTemporaryFile) {
  ASSERT_TRUE(save().isOk());
  std::string container = load(at("m.inlay")), weights = load(at("w.safetensors"));
  addConstant();
  for (size_t failing : {0, 1}) {
    expectFailedSave(&Calls::failingRename, failing, container);
    EXPECT_EQ(load(at("w.safetensors")) == weights, failing == 0);
    EXPECT_EQ(readContainer(at("m.inlay")).isOk(), failing == 0) << "a new weights file doesn't fit the old container";
  }
  EXPECT_EQ(save(true).message(), "");
  EXPECT_EQ(readContainer(at("m.inlay")).status().message(), "");
}

TEST_F(DurabilityTest, AFolderThatCannotBeStoredIsAnError) {
  watched.failing = 1;
  calls = &watched;
  EXPECT_EQ(writeContainer(at("m.inlay"), *builder.plan, {}).message(),
            "'" + at("m.inlay") + "' can't be written: Input/output error");
}

TEST_F(DurabilityTest, AFileSystemWithoutFsyncIsUsedAsItIs) {
  for (int error : {EINVAL, ENOTSUP, EROFS})
    for (size_t failing : {0, 1}) {
      watched = {};
      watched.failing = failing;
      watched.error = error;
      calls = &watched;
      EXPECT_EQ(writeContainer(at("m.inlay"), *builder.plan, {}).message(), "") << strerror(error);
      calls = nullptr;
    }
}

TEST_F(DurabilityTest, AFileSystemWithoutAtomicRenamesGetsTheWeightsFileInTwoSteps) {
  for (int error : {EINVAL, ENOSYS}) {
    watched = {};
    watched.failingRename = 0;
    watched.error = error;
    calls = &watched;
    EXPECT_EQ(save().message(), "") << strerror(error);
    calls = nullptr;
    EXPECT_EQ(readContainer(at("m.inlay")).status().message(), "");
    std::filesystem::remove(at("w.safetensors"));
  }
}

TEST_F(DurabilityTest, AWeightsFileThatAppearsMeanwhileIsNotReplaced) {
  watched.failingRename = 0;
  watched.error = EINVAL; // so that the second of two steps finds the file
  watched.onFault = [&] { store(at("w.safetensors"), "of another process"); };
  calls = &watched;
  EXPECT_EQ(save().message().find("weights file 'w.safetensors': exists with other contents"), 0u);
  calls = nullptr;
  EXPECT_EQ(load(at("w.safetensors")), "of another process");
  EXPECT_FALSE(std::filesystem::exists(at("m.inlay")));
}

TEST_F(DurabilityTest, ATemporaryNameThatExistsIsLeftToItsOwner) {
  calls = &watched;
  ASSERT_EQ(writeContainer(at("m.inlay"), *builder.plan, {}).message(), "");
  // The name ends with a number that counts up.
  std::string name = watched.from.substr(0, watched.from.size() - 4);
  size_t dash = name.rfind('-') + 1;
  std::string next = name.substr(0, dash) + std::to_string(std::stoul(name.substr(dash)) + 1) + ".tmp";
  store(next, "of another process");
  EXPECT_EQ(writeContainer(at("m.inlay"), *builder.plan, {}).message(), "");
  EXPECT_NE(watched.from, next);
  EXPECT_EQ(load(next), "of another process");
}

/// A process without a standard input opens files as descriptor 0.
TEST_F(DurabilityTest, DescriptorZeroIsAFileLikeOthers) {
  int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  calls = &watched;
  Status saved = save(), opened = readContainer(at("m.inlay")).status();
  calls = nullptr;
  if (input >= 0) {
    dup2(input, STDIN_FILENO);
    close(input);
  }
  EXPECT_EQ(saved.message(), "");
  EXPECT_EQ(opened.message(), "");
  EXPECT_EQ(std::count(watched.made.begin(), watched.made.end(), "sync " + shorten(folder)), 2);
}
