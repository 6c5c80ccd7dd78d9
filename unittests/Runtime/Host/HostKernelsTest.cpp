// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFixture.h"

using namespace inlay::rt;
using namespace inlay::rt::host;

static std::unique_ptr<HostKernels> loadLoop() {
  HostFunction function;
  function.kernels.resize(1);
  function.kernels[0].name = "loop";
  auto kernels = getHostKernelLoader()->load(function);
  EXPECT_TRUE(kernels.isOk()) << kernels.status().message();
  return std::move(*kernels);
}

static void doubleAll(void *const *buffers, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float *>(buffers[0])[i] *= 2;
}

static void countCalls(void *const *buffers, int64_t, int64_t) { ++*static_cast<std::atomic<int> *>(buffers[0]); }

TEST(HostKernels, LoopsCoverAllIterations) {
  auto kernels = loadLoop();
  for (int64_t count : {0, 1, 1000, 100000}) {
    std::vector<float> data(static_cast<size_t>(count), 1.0f);
    void *buffers[] = {data.data()};
    EXPECT_TRUE(kernels->run(0, doubleAll, buffers, count, 1).isOk());
    EXPECT_EQ(data, std::vector<float>(static_cast<size_t>(count), 2.0f));
  }
}

TEST(HostKernels, ShortLoopsRunInOnePiece) {
  auto kernels = loadLoop();
  std::atomic<int> calls{0};
  void *buffers[] = {&calls};
  EXPECT_TRUE(kernels->run(0, countCalls, buffers, 100, 100).isOk());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(kernels->run(0, countCalls, buffers, INT64_MIN, INT64_MAX).isOk());
  EXPECT_TRUE(kernels->run(0, countCalls, buffers, 1, INT64_MAX).isOk());
  EXPECT_EQ(calls, 2);
}

TEST(HostKernels, ALoopIsNoLibraryKernel) {
  EXPECT_EQ(loadLoop()->call(0, nullptr, nullptr).message(),
            "expected the number of a library kernel, below 1, but got 0");
}

TEST(HostKernels, ConstantsMustBeBuffers) {
  HostFunction function;
  function.kernels.resize(1);
  function.kernels[0].name = "loop";
  function.kernels[0].constants = {3};
  EXPECT_EQ(getHostKernelLoader()->load(function).status().message(),
            "kernel 'loop': expected constants to be numbers of its 0 buffers, but got 3");
}
