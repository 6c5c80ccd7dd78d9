// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each allocation of a library kernel fails in turn, on its caller's thread and on threads of the pool.

#include "../PlanBuilder.h"
#include "Allocations.h"
#include "FailEach.h"
#include "Runtime/Host/Kernels/HostKernelLibrary.h"
#include "Runtime/Host/Support/ThreadPool.h"
#include "inlay/Runtime/Core/Guard.h"
#include "inlay/Runtime/Core/Trace.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace inlay::rt;
using namespace inlay::rt::host;
using namespace inlay::rt::test;

namespace {

/// A kernel with data for a call. The last buffer is the result.
struct KernelCall {
  HostKernel kernel;
  std::vector<int64_t> sizes;
  std::vector<std::vector<float>> buffers;

  void addBuffer(int64_t elements) {
    std::vector<float> &buffer = buffers.emplace_back(static_cast<size_t>(elements));
    for (size_t i = 0; i < buffer.size(); ++i)
      buffer[i] = std::sin(static_cast<float>(i));
    kernel.buffers = static_cast<uint32_t>(buffers.size());
  }
};

/// C = A B in two products of 96 x 64 x 80, with packed weights B and a result of transposed rows.
KernelCall makeContraction() {
  constexpr int64_t kOuter = 2, kM = 96, kN = 64, kK = 80;
  KernelCall call;
  call.kernel.name = "product";
  call.kernel.kind = HostKernelKind::Contraction;
  call.kernel.loops = 4;
  call.kernel.constants = {1};
  call.sizes = {kOuter, kM * kK, 0,  kM * kN, // each loop: its size and the strides of A, B and C
                kM,     kK,      0,  1,       //
                kN,     0,       1,  kM,      //
                kK,     1,       kN, 0};
  call.addBuffer(kOuter * kM * kK);
  call.addBuffer(kK * kN);
  call.addBuffer(kOuter * kM * kN);
  return call;
}

/// A 3x3 convolution of two images with 8 channels of 20 x 20. Images have channels outermost, which takes scratch.
KernelCall makeConvolution() {
  constexpr int64_t kBatch = 2, kChannels = 8, kSize = 20;
  KernelCall call;
  call.kernel.name = "convolution";
  call.kernel.kind = HostKernelKind::Convolution;
  call.kernel.constants = {1};
  call.sizes = {kBatch, 1, kChannels, kChannels, 2, kSize, kSize, 3, 1, 1, 1, kSize, kSize, 3, 1, 1, 1};
  call.addBuffer(kBatch * kChannels * kSize * kSize);
  call.addBuffer(kChannels * kChannels * 9);
  call.addBuffer(kBatch * kChannels * kSize * kSize);
  return call;
}

/// Attention of four heads with 100 queries and keys of 16 channels.
KernelCall makeAttention() {
  constexpr int64_t kHeads = 4, kRows = 100, kChannels = 16;
  KernelCall call;
  call.kernel.name = "attention";
  call.kernel.kind = HostKernelKind::Attention;
  call.sizes = {1, kHeads, kRows, kRows, kChannels, kChannels};
  for (int operand = 0; operand < 4; ++operand)
    call.sizes.insert(call.sizes.end(), {kHeads * kRows * kChannels, kRows * kChannels, kChannels, 1});
  for (int buffer = 0; buffer < 4; ++buffer)
    call.addBuffer(kHeads * kRows * kChannels);
  return call;
}

/// Native code that calls its only kernel. An exception that reaches it ends the process, as in a segment's code.
extern "C" void callKernel(void *const *arguments) noexcept {
  auto *sizes = static_cast<const int64_t *>(arguments[3]);
  auto *context = static_cast<InlayHostContext *>(arguments[4]);
  context->call(context, 0, arguments, sizes);
}

struct OneFunction : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &) override { return &callKernel; }
};

/// The parameter selects the built-in library or the plug-in.
struct KernelAllocationTest : testing::TestWithParam<bool> {
  void SetUp() override {
    if (GetParam() && !hasHostLibrary())
      GTEST_SKIP() << "no library: " << describeHostLibrary();
    ASSERT_TRUE(pool.setThreads(4).isOk());
  }
  void TearDown() override { ASSERT_TRUE(pool.setThreads(before).isOk()); }

  /// Loads and runs the kernel on new threads, and compares the result with that of the first run.
  Status run(KernelCall &call) {
    SequentialLibrary *library = GetParam() ? *hostKernelLibrary() : &portableLibrary();
    Status restarted = withoutFailures([&] {
      INLAY_RETURN_IF_ERROR(pool.setThreads(1)); // ends the workers
      return pool.setThreads(4);
    });
    INLAY_RETURN_IF_ERROR(restarted);
    HostFunction function;
    function.kernels = {call.kernel};
    StatusOr<std::unique_ptr<HostKernels>> kernels = makeHostKernels(function, *library);
    if (!kernels.isOk())
      return kernels.status();
    std::vector<void *> pointers;
    for (std::vector<float> &buffer : call.buffers)
      pointers.push_back(buffer.data());
    std::vector<float> &result = call.buffers.back();
    std::fill(result.begin(), result.end(), 0.0f);
    for (int time = 0; time < 2; ++time)
      INLAY_RETURN_IF_ERROR((*kernels)->call(0, pointers.data(), call.sizes.data()));
    if (expected.empty())
      expected = withoutFailures([&] { return result; });
    return result == expected ? Status::ok() : Status(StatusCode::Internal, "a wrong result");
  }

  /// Fails each allocation of the kernel. Which thread makes which allocation differs between runs.
  void failEachOf(KernelCall call) {
    auto work = [&] { return guard([&] { return run(call); }); };
    failEach(work);
  }

  ThreadPool &pool = ThreadPool::get();
  int64_t before = pool.threads();
  std::vector<float> expected;
};
INSTANTIATE_TEST_SUITE_P(Libraries, KernelAllocationTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Library" : "BuiltIn"; });

} // namespace

TEST_P(KernelAllocationTest, OfContractions) { failEachOf(makeContraction()); }
TEST_P(KernelAllocationTest, OfConvolutions) { failEachOf(makeConvolution()); }
TEST_P(KernelAllocationTest, OfAttention) { failEachOf(makeAttention()); }

TEST(NativeKernelAllocationTest, OfKernelsThatNativeCodeCalls) {
  KernelCall call = makeContraction();
  PlanBuilder b;
  uint32_t a = b.input("a", {Expr(2), Expr(96), Expr(80)}), c = b.output("c", {Expr(2), Expr(64), Expr(96)});
  uint32_t weights = b.constant("b", MemorySpace::Host, call.buffers[1]);
  uint32_t function = b.hostFunction("callKernel", {Access::Read, Access::Read, Access::Write});
  for (int64_t size : call.sizes)
    b.plan->hostCode.functions[function].sizes.emplace_back(size);
  b.plan->hostCode.functions[function].kernels = {call.kernel};
  b.call(function, {a, weights, c});
  auto program = Program::load(b.plan, nullptr, std::make_shared<OneFunction>(), {}, {}, getHostKernelLoader());
  ASSERT_TRUE(program.isOk()) << program.status().message();
  TensorView input{call.buffers[0].data(), ElementType::F32, {2, 96, 80}};
  TensorView output{call.buffers[2].data(), ElementType::F32, {2, 64, 96}};
  std::vector<TensorView> inputs = {input}, outputs = {output};
  auto callOnce = [&] { return (*program)->call(inputs, outputs); };
  failEach([&]() -> Status {
    INLAY_RETURN_IF_ERROR(withoutFailures([&] { return (*program)->replaceConstants({{0, b.plan->constants[0]}}); }));
    return callOnce();
  });
  failEach([&] { return (*program)->profile(inputs, outputs).status(); }, callOnce);
  failEach(
      [&] {
        auto trace = withoutFailures([] { return std::make_unique<Trace>(); });
        return (*program)->profile(inputs, outputs, trace.get()).status();
      },
      callOnce);
}
