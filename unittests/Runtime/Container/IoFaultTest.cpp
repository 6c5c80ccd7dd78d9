// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests for reads and writes that are short, are interrupted or fail. The functions of this file replace the system's
// in the whole executable.

#include "../PlanBuilder.h"
#include "ContainerFixture.h"

#include <cerrno>
#include <functional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// The faults of this thread's reads and writes.
struct IoFaults {
  size_t maxBytes = SIZE_MAX; ///< Bytes of each read or write.
  bool interrupts = false;    ///< True if each second call is interrupted.
  size_t failingRead = SIZE_MAX, failingWrite = SIZE_MAX;
  int error = EIO;                         ///< Of the failing calls.
  size_t endingRead = SIZE_MAX;            ///< Number of the read that finds the end of the file.
  std::function<void(size_t read)> onRead; ///< Called with the number of each read before it is made.
  bool failsStat = false;                  ///< True if fstat fails.
  size_t reads = 0, writes = 0, calls = 0;
};
thread_local IoFaults *faults = nullptr;

/// Returns the errno of a call, or 0 if it must succeed. Limits its bytes.
int enter(size_t &number, size_t failing, size_t &bytes) {
  if (!faults)
    return 0;
  if (faults->interrupts && faults->calls++ % 2 == 0)
    return EINTR;
  bytes = std::min(bytes, faults->maxBytes);
  return number++ == failing ? faults->error : 0;
}

ssize_t readAt(int descriptor, void *to, size_t bytes, off_t offset) {
  static size_t none = 0;
  if (int error = enter(faults ? faults->reads : none, faults ? faults->failingRead : 0, bytes)) {
    errno = error;
    return -1;
  }
  if (faults && faults->onRead)
    faults->onRead(faults->reads - 1);
  if (faults && faults->reads - 1 == faults->endingRead) {
    errno = EINTR; // the value of an earlier call, which says nothing
    return 0;
  }
  return syscall(SYS_pread64, descriptor, to, bytes, offset);
}

} // namespace

extern "C" ssize_t pread(int descriptor, void *to, size_t bytes, off_t offset) {
  return readAt(descriptor, to, bytes, offset);
}
extern "C" ssize_t pread64(int descriptor, void *to, size_t bytes, off64_t offset) {
  return readAt(descriptor, to, bytes, offset);
}
extern "C" int fstat(int descriptor, struct stat *facts) noexcept {
  if (faults && faults->failsStat) {
    errno = faults->error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fstat, descriptor, facts));
}
extern "C" ssize_t write(int descriptor, const void *from, size_t bytes) {
  static size_t none = 0;
  if (int error = enter(faults ? faults->writes : none, faults ? faults->failingWrite : 0, bytes)) {
    errno = error;
    return -1;
  }
  return syscall(SYS_write, descriptor, from, bytes);
}

namespace {

struct IoFaultTest : ContainerTest {
  IoFaultTest() {
    uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
    builder.copy(x, y);
    builder.constant("b", MemorySpace::Host, {1, 2, 3});
    builder.plan->constants.back().key = "b";
  }
  void TearDown() override {
    faults = nullptr;
    ContainerTest::TearDown();
  }
  Status save() {
    return writeContainer(at("m.inlay"), *builder.plan, {"report", "data"}, {"w.safetensors", false, true});
  }
  Status read() { return readContainer(at("m.inlay")).status(); }
  size_t countFiles() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
      ++count;
    return count;
  }

  PlanBuilder builder;
  IoFaults injected;
};

} // namespace

TEST_F(IoFaultTest, ShortAndInterruptedCallsAreContinued) {
  ASSERT_EQ(save().message(), "");
  std::string container = load(at("m.inlay")), weights = load(at("w.safetensors"));
  std::filesystem::remove(at("m.inlay"));
  std::filesystem::remove(at("w.safetensors"));
  injected.maxBytes = 7;
  injected.interrupts = true;
  faults = &injected;
  Status saved = save(), opened = read();
  faults = nullptr;
  EXPECT_EQ(saved.message(), "");
  EXPECT_EQ(opened.message(), "");
  EXPECT_EQ(load(at("m.inlay")), container);
  EXPECT_EQ(load(at("w.safetensors")), weights);
}

TEST_F(IoFaultTest, EachWriteThatFailsLeavesTheOldFiles) {
  ASSERT_EQ(save().message(), "");
  std::string container = load(at("m.inlay")), weights = load(at("w.safetensors"));
  builder.constant("more", MemorySpace::Host, {1});
  builder.plan->constants.back().key = "more";
  size_t failing = 0;
  for (;; ++failing) {
    injected = {};
    injected.failingWrite = failing;
    injected.error = ENOSPC;
    faults = &injected;
    Status status = save();
    faults = nullptr;
    if (injected.writes <= failing)
      break;
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << failing;
    EXPECT_NE(status.message().find("can't be written: No space left on device"), std::string::npos)
        << status.message();
    EXPECT_EQ(load(at("m.inlay")), container);
    EXPECT_EQ(load(at("w.safetensors")), weights);
    EXPECT_EQ(countFiles(), 2u) << "nothing else is left";
  }
  EXPECT_GE(failing, 3u);
  EXPECT_EQ(save().message(), "");
  EXPECT_NE(load(at("w.safetensors")), weights);
}

TEST_F(IoFaultTest, EachReadThatFailsIsAnError) {
  ASSERT_EQ(save().message(), "");
  size_t failing = 0;
  for (;; ++failing) {
    injected = {};
    injected.failingRead = failing;
    faults = &injected;
    Status status = read();
    faults = nullptr;
    if (injected.reads <= failing)
      break;
    EXPECT_EQ(status.message(), "'" + at("m.inlay") + "': can't be read: Input/output error") << failing;
  }
  EXPECT_GE(failing, 2u);
  EXPECT_EQ(read().message(), "");
}

TEST_F(IoFaultTest, AFileThatEndsWhileItIsReadIsAnError) {
  ASSERT_EQ(save().message(), "");
  for (size_t read : {0, 1, 2}) {
    injected = {};
    injected.endingRead = read;
    faults = &injected;
    Status status = this->read();
    faults = nullptr;
    EXPECT_EQ(status.message(), "'" + at("m.inlay") + "': became shorter while it was read") << read;
  }
}

TEST_F(IoFaultTest, AFileThatChangesWhileItIsReadIsAnError) {
  builder.constant("large", MemorySpace::Host, std::vector<float>(5000, 1));
  ASSERT_EQ(save().message(), "");
  const std::string container = load(at("m.inlay"));
  auto readChanged = [&](const std::string &changed) {
    injected = {};
    injected.onRead = [&](size_t read) {
      if (read == 2) // after the header and the table, before everything else
        store(at("m.inlay"), changed);
    };
    faults = &injected;
    Status status = this->read();
    faults = nullptr;
    store(at("m.inlay"), container);
    return status.message();
  };
  EXPECT_EQ(readChanged(container), "");
  EXPECT_EQ(readChanged(container + "x"), "'" + at("m.inlay") + "': changed its size while it was read");
  std::string moved = container; // the constants start a page later
  size_t offset = container.find("constants") + 16;
  ASSERT_LT(offset, 64u + 40 * 5);
  moved[offset + 1] = static_cast<char>(moved[offset + 1] + 0x10);
  moved[offset + 9] = static_cast<char>(moved[offset + 9] - 0x10);
  EXPECT_EQ(readChanged(moved), "'" + at("m.inlay") + "': changed while it was read");
}

TEST_F(IoFaultTest, AFileThatCannotBeExaminedIsAnError) {
  ASSERT_EQ(save().message(), "");
  injected.failsStat = true;
  faults = &injected;
  Status status = read();
  faults = nullptr;
  EXPECT_EQ(status.message(), "'" + at("m.inlay") + "': can't be examined: Input/output error");
}

TEST_F(IoFaultTest, AWeightsFileThatCannotBeComparedIsAnError) {
  ASSERT_EQ(save().message(), "");
  injected.failingRead = 0;
  faults = &injected;
  Status status = writeContainer(at("m.inlay"), *builder.plan, {}, {"w.safetensors"});
  faults = nullptr;
  EXPECT_EQ(status.message(), "weights file 'w.safetensors': can't be read: Input/output error");
}
