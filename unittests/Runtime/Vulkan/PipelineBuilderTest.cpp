// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of pipelines that are created on other threads, with and without a driver. A gate delays those without a
// driver.

#include "Runtime/Vulkan/Pipeline/PipelineBuilder.h"
#include "../VulkanFixture.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace inlay::rt;
using namespace inlay::rt::test;
using inlay::rt::vulkan::PipelineBuilder;

namespace {

Kernel kernelOf(size_t words, uint32_t first = 0) {
  Kernel kernel;
  kernel.name = "k";
  kernel.spirv.assign(words, first);
  return kernel;
}

/// Delays the creation of pipelines until it is opened.
class Gate {
public:
  vulkan::PipelineTask::Create create(Status status = Status::ok()) {
    return [this, status](const Kernel &kernel, const std::string &) -> StatusOr<vulkan::Pipeline> {
      std::unique_lock<std::mutex> lock(mutex_);
      begun_.push_back(kernel.spirv.size());
      changed_.notify_all();
      changed_.wait(lock, [&] { return isOpen_; });
      if (!status.isOk())
        return status;
      return vulkan::Pipeline();
    };
  }
  void open() {
    std::lock_guard<std::mutex> lock(mutex_);
    isOpen_ = true;
    changed_.notify_all();
  }
  void waitForBegun(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() >= count; });
  }
  std::vector<size_t> begun() {
    std::lock_guard<std::mutex> lock(mutex_);
    return begun_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOpen_ = false;
  std::vector<size_t> begun_; ///< Number of words of each kernel, in the order in which creation began.
};

struct PipelineBuilderTest : testing::Test {
  size_t threads = std::max(1u, std::thread::hardware_concurrency());
  vulkan::DeviceTable table;
  Gate gate;
};

} // namespace

TEST_F(PipelineBuilderTest, StartingDoesNotWaitAndWaitingDoes) {
  PipelineBuilder builder(table);
  auto task = builder.start(kernelOf(1), "main", gate.create(Status(StatusCode::Internal, "no")));
  EXPECT_TRUE(task->status().isOk()) << "nothing is known yet";
  gate.waitForBegun(1);
  std::thread opener([&] { gate.open(); });
  builder.wait({task});
  EXPECT_EQ(task->status().message(), "no");
  opener.join();
}

/// Each task is started after the earlier ones have begun, so that none waits in the queue.
TEST_F(PipelineBuilderTest, ThereAreAsManyThreadsAsProcessors) {
  PipelineBuilder builder(table);
  std::vector<PipelineBuilder::Task> tasks;
  for (size_t i = 0; i < threads; ++i) {
    tasks.push_back(builder.start(kernelOf(1, uint32_t(i)), "main", gate.create()));
    gate.waitForBegun(i + 1);
  }
  gate.open();
  builder.wait(tasks);
}

TEST_F(PipelineBuilderTest, TheFirstComeFirst) {
  PipelineBuilder builder(table);
  std::vector<PipelineBuilder::Task> tasks;
  for (size_t i = 0; i < threads; ++i) // keep all threads busy
    tasks.push_back(builder.start(kernelOf(1, uint32_t(i)), "main", gate.create()));
  gate.waitForBegun(threads);
  for (size_t words = 2; words < 2 + 2 * threads; ++words)
    tasks.push_back(builder.start(kernelOf(words), "main", gate.create()));
  gate.open();
  builder.wait({tasks.begin(), tasks.begin() + long(threads)}); // so that the builder's threads take all other tasks
  builder.wait(tasks);
  std::vector<size_t> begun = gate.begun();
  ASSERT_EQ(begun.size(), 3 * threads);
  // As many tasks as there are threads begin at the same time, in any order.
  for (size_t i = threads; i < begun.size(); ++i)
    EXPECT_NEAR(double(begun[i]), double(2 + i - threads), double(2 * threads)) << i;
}

/// A caller that waits runs its tasks that haven't begun, and doesn't wait for others.
TEST_F(PipelineBuilderTest, WaitingTakesItsOwnAlone) {
  PipelineBuilder builder(table);
  std::vector<PipelineBuilder::Task> held;
  for (size_t i = 0; i < threads; ++i)
    held.push_back(builder.start(kernelOf(1, uint32_t(i)), "main", gate.create()));
  gate.waitForBegun(threads);
  Gate open;
  open.open();
  auto other = builder.start(kernelOf(2), "main", open.create());
  auto wanted = builder.start(kernelOf(3), "main", open.create());
  builder.wait({wanted});
  EXPECT_TRUE(wanted->isDone());
  EXPECT_FALSE(other->isDone());
  gate.open();
}

TEST_F(PipelineBuilderTest, WhatIsTheSameIsMadeOnce) {
  PipelineBuilder builder(table);
  gate.open();
  auto first = builder.start(kernelOf(5), "main", gate.create());
  auto same = builder.start(kernelOf(5), "main", gate.create());
  EXPECT_EQ(first, same);
  Kernel otherBindings = kernelOf(5), otherConstants = kernelOf(5), otherSubgroup = kernelOf(5);
  otherBindings.bindings.push_back(Access::Read);
  otherConstants.pushConstants = 1;
  otherSubgroup.requirements.push_back("subgroup-size=4");
  for (const Kernel &other : {kernelOf(5, 1), otherBindings, otherConstants, otherSubgroup})
    EXPECT_NE(builder.start(other, "main", gate.create()), first);
  EXPECT_NE(builder.start(kernelOf(5), "other", gate.create()), first);
  builder.wait({first});
  EXPECT_EQ(builder.start(kernelOf(5), "main", gate.create()), first) << "finished tasks are shared too";
  EXPECT_EQ(builder.counts().started, 6u);
  EXPECT_EQ(builder.counts().shared, 2u);
}

TEST_F(PipelineBuilderTest, WhatFailedIsTriedAgain) {
  PipelineBuilder builder(table);
  gate.open();
  auto first = builder.start(kernelOf(5), "main", gate.create(Status(StatusCode::ResourceExhausted, "full")));
  builder.wait({first});
  EXPECT_EQ(first->status().code(), StatusCode::ResourceExhausted);
  auto again = builder.start(kernelOf(5), "main", gate.create());
  EXPECT_NE(again, first);
  builder.wait({again});
  EXPECT_TRUE(again->status().isOk());
}

TEST_F(PipelineBuilderTest, WhatNobodyWantsAnyMoreIsNotMade) {
  PipelineBuilder builder(table);
  std::vector<PipelineBuilder::Task> tasks;
  for (size_t i = 0; i < threads; ++i)
    tasks.push_back(builder.start(kernelOf(1, uint32_t(i)), "main", gate.create()));
  gate.waitForBegun(threads);
  builder.start(kernelOf(99), "main", gate.create());
  auto wanted = builder.start(kernelOf(2), "main", gate.create());
  gate.open();
  builder.wait({wanted});
  builder.wait(tasks);
  for (size_t words : gate.begun())
    EXPECT_NE(words, 99u);
}

TEST_F(PipelineBuilderTest, ThreadsComeAgainAfterAllWasDone) {
  PipelineBuilder builder(table);
  gate.open();
  for (uint32_t i = 0; i < 50; ++i) {
    auto task = builder.start(kernelOf(1, i), "main", gate.create());
    if (i % 2)
      std::this_thread::yield();
    builder.wait({task});
  }
  EXPECT_EQ(gate.begun().size(), 50u);
}

TEST_F(PipelineBuilderTest, ManyThreadsStartAndWait) {
  PipelineBuilder builder(table);
  gate.open();
  std::vector<std::thread> callers;
  for (uint32_t caller = 0; caller < 8; ++caller)
    callers.emplace_back([&] {
      std::vector<PipelineBuilder::Task> tasks;
      for (uint32_t i = 0; i < 40; ++i)
        tasks.push_back(builder.start(kernelOf(1 + i % 7, i % 10), "main", gate.create()));
      builder.wait(tasks);
      for (auto &task : tasks)
        EXPECT_TRUE(task->status().isOk());
    });
  for (std::thread &caller : callers)
    caller.join();
}

/// The destructor of a builder waits for tasks that have begun, and for nothing else.
TEST_F(PipelineBuilderTest, ClosingWaitsForWhatHasBegun) {
  std::vector<PipelineBuilder::Task> tasks;
  {
    PipelineBuilder builder(table);
    for (size_t i = 0; i < threads + 3; ++i)
      tasks.push_back(builder.start(kernelOf(1, uint32_t(i)), "main", gate.create()));
    gate.waitForBegun(threads);
    std::thread([&] { gate.open(); }).detach();
  }
  for (auto &task : tasks)
    EXPECT_TRUE(task->status().isOk() || task->status().message() == "the process is exiting")
        << task->status().message();
}

TEST_F(PipelineBuilderTest, AChildOfForkHasNoThreads) {
  GTEST_FLAG_SET(death_test_style, "fast");
  auto *builder = new PipelineBuilder(table); // leaked in the child
  std::vector<PipelineBuilder::Task> tasks;
  for (size_t i = 0; i < threads + 2; ++i)
    tasks.push_back(builder->start(kernelOf(1, uint32_t(i)), "main", gate.create()));
  gate.waitForBegun(threads);
  auto inChild = [&] {
    auto late = builder->start(kernelOf(7), "main", gate.create());
    builder->wait(tasks);
    bool isSaid = !tasks.back()->status().isOk() && !late->status().isOk();
    delete builder;
#ifdef __SANITIZE_THREAD__ // its pthread_join spins when a driver's exit handlers join threads that don't exist here
    _exit(isSaid ? 0 : 1);
#else
    std::exit(isSaid ? 0 : 1);
#endif
  };
  EXPECT_EXIT(inChild(), testing::ExitedWithCode(0), "");
  gate.open();
  builder->wait(tasks);
  EXPECT_TRUE(tasks.back()->status().isOk());
  delete builder;
}

struct PipelineBuilderDeathTest : VulkanFixture {};

/// At exit the driver's threads and tables are destroyed. The builder's threads must end before.
TEST_F(PipelineBuilderDeathTest, AProcessMayEndAtAnyTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto endEarly = [&] {
    std::vector<std::shared_ptr<DeviceEngine>> loaded;
    for (int i = 0; i < 200; ++i) {
      Engine engine = elementwiseEngine(binaryKernel("add" + std::to_string(i), "OpFAdd"), Expr(8));
      auto started = device->load(engine);
      if (started.isOk())
        loaded.push_back(*started);
    }
    std::exit(0);
  };
  EXPECT_EXIT(endEarly(), testing::ExitedWithCode(0), "");
}
