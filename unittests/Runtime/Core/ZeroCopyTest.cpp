// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of calls whose inputs and results a device uses in place, and of the lifetime of their memory.

#include "../FakeDevice.h"
#include "../PlanBuilder.h"
#include "Runtime/Core/Memory/HostBlock.h"
#include "Runtime/Core/Memory/ResultMemory.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

constexpr int64_t kMany = int64_t(1) << 17; ///< Number of elements that are worth importing.

/// A tensor that counts how often its memory was released.
struct Owned {
  explicit Owned(int64_t count = kMany, float value = 1) : values(std::make_shared<std::vector<float>>(count, value)) {}
  TensorView view() const { return {values->data(), ElementType::F32, {static_cast<int64_t>(values->size())}, values}; }
  bool isKept() const { return values.use_count() > 1; }
  std::shared_ptr<std::vector<float>> values;
};

std::vector<float> floats(const TensorView &view) {
  auto *data = static_cast<const float *>(view.data);
  return {data, data + view.dims[0]};
}

/// Resolves the host versions.
struct Library final : HostSymbolResolver {
  static void twice(void *const *buffers) {
    for (int64_t i = 0; i < *static_cast<int64_t *>(buffers[2]); ++i)
      static_cast<float *>(buffers[1])[i] = 2 * static_cast<float *>(buffers[0])[i];
  }
  static void add(void *const *buffers) {
    for (int64_t i = 0; i < *static_cast<int64_t *>(buffers[3]); ++i)
      static_cast<float *>(buffers[2])[i] = static_cast<float *>(buffers[0])[i] + static_cast<float *>(buffers[1])[i];
  }
  StatusOr<HostEntry> lookup(const std::string &symbol) override { return symbol == "add" ? add : twice; }
};

/// y = 2 * (x + x) by two launches.
struct ZeroCopyTest : testing::Test {
  ZeroCopyTest() {
    Expr n = Expr::dim(0, 0);
    uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
    uint32_t a = builder.temporary("a", MemorySpace::Device, {n}), b = builder.temporary("b", MemorySpace::Device, {n}),
             c = builder.temporary("c", MemorySpace::Device, {n});
    uint32_t add = builder.engine("add", 3), twice = builder.engine("double", 2);
    builder.copy(x, a);
    builder.launch(add, {a, a, b});
    builder.launch(twice, {b, c});
    builder.copy(c, y);
    uint32_t hostAdd = builder.hostFunction("add", {Access::Read, Access::Read, Access::Write}),
             hostTwice = builder.hostFunction("twice", {Access::Read, Access::Write});
    for (HostFunction &function : builder.plan->hostCode.functions)
      function.sizes = {n};
    builder.plan->engines[add].hostVersion = static_cast<int32_t>(hostAdd);
    builder.plan->engines[twice].hostVersion = static_cast<int32_t>(hostTwice);
    device->canImport = true;
  }
  void SetUp() override {
    auto loaded = Program::load(builder.plan, device, std::make_shared<Library>());
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
  }
  TensorView call(const Owned &x) {
    auto results = program->call({x.view()});
    EXPECT_TRUE(results.isOk()) << results.status().message();
    return results.isOk() ? (*results)[0] : TensorView();
  }

  PlanBuilder builder;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>(/*unified=*/true);
  std::unique_ptr<Program> program;
};

} // namespace

TEST_F(ZeroCopyTest, LargeOnesWithOwnersAreUsedInPlace) {
  Owned x;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(call(x)), std::vector<float>(kMany, 4));
    EXPECT_EQ(device->imports, 2 * (i + 1));
    EXPECT_FALSE(x.isKept());
    x.values->back() = 1; // nothing reads it any more
  }
  EXPECT_EQ(device->records, 2) << "once for each launch";
}

TEST_F(ZeroCopyTest, InputsAreNotWritten) {
  size_t bytes = kMany * sizeof(float);
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::fill_n(static_cast<float *>(mapped), kMany, 2.0f);
  ASSERT_EQ(mprotect(mapped, bytes, PROT_READ), 0);
  std::shared_ptr<const void> owner(mapped, [bytes](const void *data) { munmap(const_cast<void *>(data), bytes); });
  auto results = program->call({{mapped, ElementType::F32, {kMany}, owner}});
  ASSERT_TRUE(results.isOk());
  EXPECT_EQ(device->imports, 2);
  EXPECT_EQ(floats((*results)[0]), std::vector<float>(kMany, 8));
}

TEST_F(ZeroCopyTest, OthersAreCopied) {
  std::vector<float> x(kMany, 3), y(kMany);
  ASSERT_EQ(program->call({view(x)}, {view(y)}).message(), "");
  EXPECT_EQ(y, std::vector<float>(kMany, 12));
  EXPECT_EQ(device->imports, 0) << "no owners";
  Owned small(1000, 2);
  EXPECT_EQ(floats(call(small)), std::vector<float>(1000, 8));
  EXPECT_EQ(device->imports, 0) << "too small";
  Owned result;
  ASSERT_EQ(program->call({view(x)}, {result.view()}).message(), "");
  EXPECT_EQ(*result.values, std::vector<float>(kMany, 12));
  EXPECT_EQ(device->imports, 0) << "a caller's result";
  device->canImport = false;
  EXPECT_EQ(floats(call(Owned())), std::vector<float>(kMany, 4)) << "a device that can't import";
}

TEST_F(ZeroCopyTest, CallsWithAndWithoutOwnersTakeTurns) {
  for (int i = 0; i < 4; ++i) {
    Owned x(kMany, float(i));
    std::vector<float> y(kMany);
    ASSERT_EQ(program->call({x.view()}, {view(y)}).message(), "");
    EXPECT_EQ(y, std::vector<float>(kMany, 4 * float(i)));
    std::vector<float> z(kMany, float(i + 10));
    auto results = program->call({view(z)});
    ASSERT_TRUE(results.isOk());
    EXPECT_EQ(floats((*results)[0]), std::vector<float>(kMany, 4 * float(i + 10)));
    EXPECT_EQ(y[5], 4 * float(i));
  }
}

TEST_F(ZeroCopyTest, OwnersAreLetGoOfWhenACallFails) {
  Owned x;
  device->failRuns = 1;
  EXPECT_FALSE(program->call({x.view()}).isOk());
  EXPECT_FALSE(x.isKept());
  device->failWaits = 1;
  EXPECT_FALSE(program->call({x.view()}).isOk());
  EXPECT_FALSE(x.isKept());
  EXPECT_FALSE(program->call({x.view(), x.view()}).isOk());
  EXPECT_FALSE(x.isKept());
  EXPECT_EQ(floats(call(x))[0], 4);
}

TEST_F(ZeroCopyTest, MemoryThatAHangingDeviceWritesIsNobodyElses) {
  Owned x;
  device->hangs = true;
  device->failWaits = 1;
  EXPECT_EQ(program->call({x.view()}).status().code(), StatusCode::DeviceLost);
  EXPECT_TRUE(x.isKept()) << "the device may read it";
  TensorView result = call(Owned(kMany, 5));
  program.reset();
  device->goOn();
  EXPECT_EQ(floats(result), std::vector<float>(kMany, 20));
}

TEST_F(ZeroCopyTest, TheHostWritesOtherResultsThanADeviceThatHangs) {
  RecoveryOptions options;
  options.notify = [](const RecoveryNotice &) {};
  auto recovering = loadRecovering(builder.plan, device, std::make_shared<Library>(), {}, {}, nullptr, options);
  ASSERT_TRUE(recovering.isOk()) << recovering.status().message();
  Owned x;
  device->hangs = true;
  device->failWaits = 1;
  auto results = (*recovering)->call({x.view()});
  ASSERT_TRUE(results.isOk()) << results.status().message();
  EXPECT_TRUE(x.isKept());
  TensorView late = (*results)[0];
  std::fill(x.values->begin(), x.values->end(), 9.0f); // the caller has the memory back
  device->goOn();
  EXPECT_EQ(floats(late), std::vector<float>(kMany, 4));
  EXPECT_EQ(floats((*(*recovering)->call({x.view()}))[0]), std::vector<float>(kMany, 36)) << "on the host";
}

TEST_F(ZeroCopyTest, ResultsOutliveTheProgramAndItsDevice) {
  TensorView first = call(Owned()), second = call(Owned(kMany, 2));
  program.reset();
  device.reset();
  EXPECT_EQ(floats(first), std::vector<float>(kMany, 4));
  EXPECT_EQ(floats(second), std::vector<float>(kMany, 8));
}

TEST_F(ZeroCopyTest, ResultsAreInputsOfLaterCalls) {
  auto results = program->call({Owned().view()});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(results.isOk());
    results = program->call(*results);
  }
  EXPECT_EQ(floats((*results)[0]), std::vector<float>(kMany, 256));
  EXPECT_EQ(device->imports, 8);
}

TEST_F(ZeroCopyTest, ThreadsShareAnInput) {
  Owned x;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        auto results = program->call({x.view()});
        wrong += !results.isOk() || floats((*results)[0]) != std::vector<float>(kMany, 4);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(x.isKept());
}

TEST_F(ZeroCopyTest, EmptyOnesHaveResultsToo) {
  TensorView result = call(Owned(0));
  EXPECT_EQ(result.dims, std::vector<int64_t>{0});
  EXPECT_NE(result.data, nullptr);
}

//===-- Memory of results ---------------------------------------------------------------------------------------===//

static std::shared_ptr<void> allocate(size_t bytes) {
  auto memory = allocateResult(bytes);
  EXPECT_TRUE(memory.isOk());
  return memory.isOk() ? *memory : nullptr;
}

TEST(ResultMemory, GoesAround) {
  size_t bytes = size_t(5) << 20;
  std::shared_ptr<void> first = allocate(bytes), second = allocate(bytes);
  EXPECT_NE(first, second);
  void *address = first.get();
  first.reset();
  EXPECT_GE(idleResultBytes(), bytes);
  EXPECT_EQ(allocate(bytes - 100).get(), address);
  EXPECT_NE(allocate(bytes / 2).get(), address) << "the block is too large";
}

TEST(ResultMemory, LargeBlocksConsistOfPages) {
  size_t before = idleResultBytes(), bytes = (size_t(200) << 20) + 1;
  {
    auto memory = allocateResult(bytes);
  } // is larger than all idle blocks
  EXPECT_EQ(idleResultBytes() % 4096, 0u) << before;
  before = idleResultBytes();
  {
    auto memory = allocateResult(1000);
  }
  EXPECT_EQ(idleResultBytes(), before) << "small blocks are freed";
}

TEST(HostBlock, OnlyLargeOnesStartOnPages) {
  auto isOnPage = [](const HostBlock &block) { return reinterpret_cast<uintptr_t>(block.get()) % 4096 == 0; };
  EXPECT_TRUE(isOnPage(*allocateHostBlock(size_t(1) << 20)));
  std::vector<HostBlock> small;
  for (int i = 0; i < 3; ++i) {
    small.push_back(std::move(*allocateHostBlock(1)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(small.back().get()) % 64, 0u);
  }
  EXPECT_FALSE(std::all_of(small.begin(), small.end(), isOnPage));
}

TEST(ResultMemory, HasABound) {
  size_t bytes = size_t(60) << 20;
  std::vector<std::shared_ptr<void>> kept;
  for (int i = 0; i < 8; ++i)
    kept.push_back(allocate(bytes));
  kept.clear();
  EXPECT_LE(idleResultBytes(), size_t(256) << 20);
  EXPECT_GE(idleResultBytes(), size_t(180) << 20);
}

TEST(ResultMemory, IsRefusedWithWords) {
  EXPECT_EQ(allocateResult(SIZE_MAX - 5).status().code(), StatusCode::ResourceExhausted);
}

TEST(ResultMemory, LivesOnInAChildOfFork) {
  std::atomic<bool> stop{false};
  std::thread busy([&] { // holds the lock most of the time
    while (!stop)
      allocate(size_t(1) << 18);
  });
  std::shared_ptr<void> memory = allocate(size_t(1) << 20);
  static_cast<char *>(memory.get())[1000] = 7;
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      bool isRight = static_cast<char *>(memory.get())[1000] == 7;
      memory.reset();
      alarm(10);
      _exit(isRight && allocate(size_t(1) << 18) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}
