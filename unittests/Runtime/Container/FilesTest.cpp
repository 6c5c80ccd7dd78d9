// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the messages for files that are not containers, or are of another version or machine.

#include "../PlanBuilder.h"
#include "ContainerFixture.h"

#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// Returns the image with bytes replaced and the hash corrected.
std::string patched(std::string image, size_t at, const std::string &bytes) {
  image.replace(at, bytes.size(), bytes);
  seal(image);
  return image;
}

} // namespace

TEST_F(ContainerTest, FilesThatAreNoContainersAreNamedAsWhatTheyAre) {
  EXPECT_EQ(refusal(""), "is empty");
  EXPECT_EQ(refusal("func.func @main() {}"), "is not an inlay container: it starts with other bytes");
  EXPECT_EQ(refusal("\x89INL"), "is truncated: expected a header of 64 bytes, but got 4 bytes");
  std::string good = write(*randomPlan(2));
  EXPECT_EQ(refusal(good), "");
  std::string unixText = good;
  unixText.erase(6, 1); // as a transfer in text mode does
  EXPECT_EQ(refusal(unixText), "is not an inlay container: it starts with other bytes");
  std::string size = std::to_string(good.size());
  EXPECT_EQ(refusal(good.substr(0, 1000)), "is truncated: its header says " + size + " bytes, but the file has 1000");
  EXPECT_EQ(refusal(good + "x").find("is damaged: its header says " + size), 0u);
  std::string flipped = good;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  EXPECT_EQ(refusal(flipped), "is damaged: its bytes don't match its hash");
}

TEST_F(ContainerTest, WhatIsNoFileIsRefused) {
  auto message = [](const std::string &path) { return readContainer(path).status().message(); };
  EXPECT_EQ(message(folder), "'" + folder + "': is a directory");
  EXPECT_EQ(message(at("none")), "'" + at("none") + "': can't be opened: No such file or directory");
  EXPECT_EQ(readContainer(at("none")).status().code(), StatusCode::NotFound);
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message(at("pipe")), "'" + at("pipe") + "': expected a regular file, but got a pipe, a socket or a device");
  EXPECT_EQ(message("/dev/zero"), "'/dev/zero': expected a regular file, but got a pipe, a socket or a device");
  EXPECT_FALSE(isContainer(folder));
  EXPECT_FALSE(isContainer(at("pipe")));
  if (geteuid() != 0) { // root may read all files
    write(*smallPlan());
    chmod(at("a.inlay").c_str(), 0);
    EXPECT_EQ(message(at("a.inlay")), "'" + at("a.inlay") + "': can't be opened: Permission denied");
  }
}

TEST_F(ContainerTest, IsContainerLooksAtTheMagic) {
  write(*smallPlan());
  EXPECT_TRUE(isContainer(at("a.inlay")));
  store(at("b.mlir"), "module {}");
  EXPECT_FALSE(isContainer(at("b.mlir")));
  store(at("b.mlir"), "");
  EXPECT_FALSE(isContainer(at("b.mlir")));
}

TEST_F(ContainerTest, HasDeviceKernelsLooksAtTheTable) {
  write(*smallPlan());
  EXPECT_FALSE(hasDeviceKernels(at("a.inlay")));
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  builder.engine("double", 2);
  std::string image = write(*builder.plan);
  EXPECT_TRUE(hasDeviceKernels(at("a.inlay")));
  store(at("a.inlay"), patched(image, image.find("spirv") + 24, std::string(8, '\0')));
  EXPECT_FALSE(hasDeviceKernels(at("a.inlay"))) << "the section is empty";
  store(at("a.inlay"), image.substr(1));
  EXPECT_FALSE(hasDeviceKernels(at("a.inlay"))) << "no container";
  EXPECT_FALSE(hasDeviceKernels(at("none")));
}

TEST_F(ContainerTest, OtherVersionsAreRefusedWithBothVersions) {
  std::string good = write(*smallPlan());
  EXPECT_EQ(refusal(patched(good, 8, {7, 0})),
            "expected format version 6.x, but got 7.0; this reader is of version 6.0");
  EXPECT_EQ(refusal(patched(good, 10, {7, 0, 3, 0})),
            "has format version 6.7 and needs a reader of version 6.3 or newer, but this reader is of version 6.0");
  EXPECT_EQ(refusal(patched(good, 10, {7, 0, 0, 0})), "")
      << "a newer minor version is read if it does not require a newer reader";
}

TEST_F(ContainerTest, OtherMachinesAreRefused) {
  std::string good = write(*smallPlan());
  EXPECT_EQ(refusal(patched(good, 16, {1, 2, 3, 4})),
            "expected little-endian numbers, but got a file with big-endian ones");
  EXPECT_EQ(refusal(patched(good, 16, {1, 2, 3, 5})), "expected byte order mark 0x01020304, but got 0x05030201");
  EXPECT_EQ(refusal(patched(good, 24, "s390x")), "its host code is for s390x, but this machine is " + thisArch());
  EXPECT_EQ(refusal(patched(good, 24, "\x01")), "is damaged: its processor name is malformed");
}

TEST_F(ContainerTest, AHeaderThatDisagreesWithTheCodeIsRefused) {
  std::shared_ptr<Plan> plan = smallPlan();
  plan->hostCode.triple = "s390x-linux-gnu";
  plan->hostCode.objects.push_back({"z14", {}, {1, 2}});
  std::string image = write(*plan);
  EXPECT_EQ(refusal(image), "its host code is for s390x, but this machine is " + thisArch());
  EXPECT_EQ(refusal(patched(image, 24, std::string(16, '\0'))),
            "its header says that host code is for '', but the code's triple is 's390x-linux-gnu'");
}

TEST_F(ContainerTest, UnknownSectionsAreSkippedUnlessTheyAreRequired) {
  std::string good = write(*smallPlan(), {"{}", ""});
  size_t entry = good.find("report");
  ASSERT_EQ(entry, kHeaderBytes + kSectionBytes) << "in the table";
  std::string unknown = patched(good, entry, "future");
  EXPECT_EQ(refusal(unknown), "");
  EXPECT_EQ(refusal(patched(unknown, entry + 32, {1})),
            "section 'future' is required, but this reader, of version 6.0, doesn't know it");
  EXPECT_EQ(refusal(patched(unknown, entry + 32, {2})), "section 'future': unknown flags 0x2");
  EXPECT_EQ(refusal(patched(good, entry, std::string(16, '\0'))), "the name of a section is malformed");
  EXPECT_EQ(refusal(patched(good, good.find("plan"), "plen")),
            "section 'plen' is required, but this reader, of version 6.0, doesn't know it");
  EXPECT_EQ(refusal(patched(good, kHeaderBytes,
                            std::string("food") + std::string(12, '\0') + good.substr(80, 16) + std::string(4, '\0'))),
            "has no section 'plan'");
}

TEST_F(ContainerTest, OnlyTheReportAndTheMetadataMayBeSkipped) {
  std::set<std::string> seen;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::string good = write(*randomPlan(seed), {"{}", "{}"});
    auto saved = readContainer(at("a.inlay"));
    ASSERT_TRUE(saved.isOk()) << seed;
    for (const ContainerSection &section : saved->info.sections) {
      std::string bad = patched(good, good.find(section.name), "X"); // the first place is in the table
      bool maySkip = section.name == "report" || section.name == "metadata";
      EXPECT_EQ(refusal(bad).find("is required, but this reader") == std::string::npos, maySkip) << section.name;
      seen.insert(section.name);
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"constants", "foreign", "host", "metadata", "plan", "report", "spirv"}));
}

TEST_F(ContainerTest, SectionsThatDoNotLieInTheFileAreRefused) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  builder.constant("w", MemorySpace::Host, {1, 2});
  std::string good = write(*builder.plan);
  size_t plan = kHeaderBytes, constants = kHeaderBytes + kSectionBytes;
  std::string far(8, '\xff');
  EXPECT_EQ(refusal(patched(good, plan + 24, far)).find("section 'plan': expected bytes between 144 and "), 0u);
  EXPECT_EQ(refusal(patched(good, plan + 16, far)).find("section 'plan': expected bytes between 144 and "), 0u);
  EXPECT_EQ(refusal(patched(good, plan + 16, std::string(8, '\0'))).find("section 'plan': expected bytes between"), 0u)
      << "overlaps the header";
  EXPECT_EQ(refusal(patched(good, constants + 16, std::string("\xfc\x0f", 2))),
            "expected the constants to be the last section and to start at a multiple of 4096, but they start at 4092");
  EXPECT_EQ(refusal(patched(good, 20, std::string("\x41\0", 2))),
            "expected at most 64 sections, with a table in the file, but got 65");
  EXPECT_EQ(refusal(patched(good, plan, good.substr(constants, 16))), "section 'constants' occurs more than once");
}

TEST_F(ContainerTest, AFileThatCannotBeWrittenLeavesNothing) {
  std::filesystem::create_directory(at("folder"));
  EXPECT_EQ(writeContainer(at("folder"), *smallPlan(), {}).message(),
            "'" + at("folder") + "' can't be written: Is a directory");
  EXPECT_EQ(writeContainer(at("none/a.inlay"), *smallPlan(), {}).message(),
            "'" + at("none/a.inlay") + "' can't be written: No such file or directory");
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(writeContainer(at("pipe"), *smallPlan(), {}).message(),
            "'" + at("pipe") + "' can't be written: expected a regular file, but got a pipe, a socket or a device");
  EXPECT_TRUE(std::filesystem::is_fifo(at("pipe")));
  size_t entries = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
    ++entries;
  EXPECT_EQ(entries, 2u) << "only the folder and the pipe";
}

TEST_F(ContainerTest, AFileThatIsReplacedKeepsItsPermissions) {
  using std::filesystem::perms;
  for (perms mode : {perms(0600), perms(0640), perms(0666), perms(0400)}) {
    for (const char *name : {"m.inlay", "w.safetensors"}) {
      store(at(name), "old");
      std::filesystem::permissions(at(name), mode);
    }
    PlanBuilder builder;
    uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
    builder.copy(x, y);
    builder.constant("w", MemorySpace::Host, {1, 2, 3});
    builder.plan->constants.back().key = "w";
    ASSERT_EQ(writeContainer(at("m.inlay"), *builder.plan, {}, {"w.safetensors", false, true}).message(), "");
    for (const char *name : {"m.inlay", "w.safetensors"})
      EXPECT_EQ(std::filesystem::status(at(name)).permissions(), mode) << name;
    std::filesystem::remove(at("m.inlay"));
    std::filesystem::remove(at("w.safetensors"));
  }
}

TEST_F(ContainerTest, ALinkIsFollowedWhenAFileIsWritten) {
  std::filesystem::create_directory(at("elsewhere"));
  std::filesystem::create_symlink("elsewhere/second", at("link"));
  std::filesystem::create_symlink("real.inlay", at("elsewhere/second"));
  for (const char *step : {"new", "existing"}) {
    ASSERT_EQ(writeContainer(at("link"), *smallPlan(), {}).message(), "") << step;
    EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
    EXPECT_TRUE(std::filesystem::is_symlink(at("elsewhere/second")));
    EXPECT_TRUE(readContainer(at("elsewhere/real.inlay")).isOk());
    EXPECT_TRUE(readContainer(at("link")).isOk());
  }
  std::filesystem::create_symlink("loop", at("loop"));
  EXPECT_EQ(writeContainer(at("loop"), *smallPlan(), {}).message(),
            "'" + at("loop") + "' can't be written: Too many levels of symbolic links");
}

TEST_F(ContainerTest, AFileThatIsReplacedStaysWhatItWasForThoseWhoReadIt) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  builder.constant("w", MemorySpace::Host, std::vector<float>(5000, 1));
  write(*builder.plan);
  auto saved = readContainer(at("a.inlay"));
  ASSERT_TRUE(saved.isOk());
  std::string before = describe(*saved->plan);
  write(*smallPlan());
  EXPECT_EQ(describe(*saved->plan), before);
}
