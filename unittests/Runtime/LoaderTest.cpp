// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the loader: plans become programs, devices are shared, and devices that can't run a plan aren't used.

#include "inlay/Runtime/Loader/Loader.h"
#include "Kernels.h"
#include "PlanBuilder.h"
#include "Runtime/Host/Support/Processor.h"
#include "Runtime/Loader/DeviceSharing.h"
#include "TemporaryPath.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Loader/SegmentCheck.h"
#include "inlay/Runtime/Vulkan/VulkanDevice.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

std::vector<char> readSample() {
  std::ifstream file(INLAY_CODE_SAMPLE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the plan of y = sin(x) * 2 + 1 on the host.
PlanBuilder sinePlan() {
  PlanBuilder b;
  uint32_t x = b.input("x", {Expr(4)}), y = b.output("y", {Expr(4)});
  b.call(b.hostFunction("sample_sine", {Access::Read, Access::Write}), {x, y});
  b.plan->hostCode.triple = host::thisProcessor().arch + "-unknown-linux-gnu";
  b.plan->hostCode.objects.push_back({"any", {}, readSample()});
  return b;
}

/// Returns the plan of c = a + b on a device.
std::shared_ptr<Plan> sumPlan(std::vector<std::string> requirements = {}) {
  PlanBuilder b;
  uint32_t a = b.input("a", {Expr(4)}), c = b.output("c", {Expr(4)});
  uint32_t on = b.temporary("a", MemorySpace::Device, {Expr(4)}),
           sum = b.temporary("c", MemorySpace::Device, {Expr(4)});
  Kernel kernel = binaryKernel("sum", "OpFAdd");
  kernel.requirements = std::move(requirements);
  b.plan->engines.push_back(elementwiseEngine(kernel, Expr(4)));
  uint32_t first = b.copy(a, on);
  uint32_t second = b.launch(0, {on, on, sum}, {first});
  b.copy(sum, c, {second});
  return b.plan;
}

TEST(Loader, hostCodeRunsWithoutADevice) {
  auto opened = loadPlan(sinePlan().plan);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  EXPECT_EQ(opened->device, nullptr);
  std::vector<float> x = {0, 0.5f, 1, 2}, y(4);
  EXPECT_EQ(opened->program->call({view(x)}, {view(y)}).message(), "");
  EXPECT_FLOAT_EQ(y[3], std::sin(2.0f) * 2 + 1);
}

/// Returns the plan of sums on a device with `count` constants that share `size` bytes.
static std::shared_ptr<Plan> sharedConstants(int count, int64_t size) {
  std::shared_ptr<Plan> plan = sumPlan();
  auto data = std::make_shared<std::vector<float>>(static_cast<size_t>(size) / sizeof(float));
  for (int i = 0; i < count; ++i) {
    plan->buffers.push_back({BufferKind::Constant,
                             MemorySpace::Device,
                             static_cast<uint32_t>(i),
                             {ElementType::F32, {Expr(size / 4)}},
                             "w"});
    plan->constants.push_back({data->data(), static_cast<size_t>(size), data});
  }
  return plan;
}

TEST(Loader, memoryOfHostCodeIsLimited) {
  OpenOptions options;
  options.memoryLimit = 1000;
  auto opened = loadPlan(sinePlan().plan, options);
  EXPECT_EQ(opened.status().code(), StatusCode::ResourceExhausted);
  EXPECT_NE(opened.status().message().find("of host code exceed the memory limit"), std::string::npos)
      << opened.status().message();
}

TEST(Loader, memoryOfALoadedFileIsLimited) {
  std::string path = temporaryPath("limited.inlay");
  ASSERT_EQ(writeContainer(path, *sinePlan().plan, {}).message(), "");
  OpenOptions options;
  options.device = "none";
  EXPECT_EQ(openProgram(path, options).status().message(), "");
  uint64_t needed = 0; // the least limit with which the file is loaded
  for (uint64_t step = 1 << 24; step > 0; step /= 2) {
    options.memoryLimit = needed + step;
    Status status = openProgram(path, options).status();
    if (!status.isOk()) {
      EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
      EXPECT_NE(status.message().find("exceed"), std::string::npos) << status.message();
      needed += step;
    }
  }
  uint64_t size = std::filesystem::file_size(path);
  EXPECT_GT(needed, size);
  EXPECT_LT(needed, (1 << 20) + 64 * size);
  std::remove(path.c_str());
}

/// Returns a plan of [n x 4] numbers to four numbers, with a temporary of n MiB.
static PlanBuilder growingPlan() {
  PlanBuilder b;
  b.plan->symbols.push_back({"n", 0, INT64_MAX, 0, 0});
  uint32_t x = b.input("x", {Expr::dim(0, 0), Expr(4)}), y = b.output("y", {Expr(4)});
  uint32_t large = b.temporary("large", MemorySpace::Host, {Expr::dim(0, 0), Expr(1 << 18)});
  uint32_t sine = b.hostFunction("sample_sine", {Access::Read, Access::Write});
  b.call(sine, {x, large});
  b.call(sine, {x, y});
  b.plan->hostCode = [&] {
    HostCode code = sinePlan().plan->hostCode;
    code.functions = b.plan->hostCode.functions;
    return code;
  }();
  return b;
}

/// Calls a program of `growingPlan`. If `n` is large, the input is longer than its memory, so the call must fail.
static Status callGrowing(Program &program, int64_t n) {
  float memory[4 + 16] = {}; // the result, then the input
  TensorView in{memory + 4, ElementType::F32, {n, 4}}, out{memory, ElementType::F32, {4}};
  return program.call({in}, {out});
}

TEST(Loader, temporariesOfCallsAreLimited) {
  std::string path = temporaryPath("temporaries.inlay");
  ASSERT_EQ(writeContainer(path, *growingPlan().plan, {}).message(), "");
  OpenOptions options;
  options.memoryLimit = 3 << 20;
  auto opened = openProgram(path, options);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  EXPECT_EQ(callGrowing(*opened->program, 1).message(), "");
  Status status = callGrowing(*opened->program, 3);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message().find("bytes of a call's temporaries exceed the memory limit: expected at most "), 0u)
      << status.message();
  EXPECT_EQ(callGrowing(*opened->program, 2).message(), "") << "later calls work";
  std::remove(path.c_str());
}

TEST(Loader, temporariesAreLimitedToTheMemoryOfTheMachine) {
  std::string path = temporaryPath("machine.inlay");
  ASSERT_EQ(writeContainer(path, *growingPlan().plan, {}).message(), "");
  auto opened = openProgram(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  EXPECT_EQ(callGrowing(*opened->program, 2).message(), "");
  Status status = callGrowing(*opened->program, int64_t(1) << 26); // 64 TiB
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("exceed the memory limit"), std::string::npos) << status.message();
  std::remove(path.c_str());
}

TEST(Loader, codeForAnotherProcessorIsRefused) {
  PlanBuilder b = sinePlan();
  b.plan->hostCode.objects[0].cpu = "newer";
  b.plan->hostCode.objects[0].features = {"avx4096"};
  auto opened = loadPlan(b.plan);
  EXPECT_EQ(opened.status().code(), StatusCode::Unavailable);
  EXPECT_NE(opened.status().message().find("that for 'newer' needs avx4096; the processor has "), std::string::npos)
      << opened.status().message();
}

TEST(Loader, theCallerMayForbidADevice) {
  unsigned calls = 0;
  OpenOptions options;
  options.beforeDevice = [&] {
    ++calls;
    return Status(StatusCode::Unavailable, "no device here");
  };
  std::string path = temporaryPath("sum.inlay");
  ASSERT_TRUE(writeContainer(path, *sumPlan(), {}).isOk());
  EXPECT_EQ(openProgram(path, options).status().message(), "no device here");
  std::remove(path.c_str());
  EXPECT_EQ(loadPlan(sumPlan(), options).status().message(), "no device here");
  EXPECT_EQ(calls, 2u);
  EXPECT_TRUE(loadPlan(sinePlan().plan, options).isOk()) << "a plan that needs no device";
  EXPECT_EQ(calls, 2u);
}

struct LoaderOnDevice : testing::Test {
  void SetUp() override {
    if (auto devices = vulkan::selectDevice(""); !devices.isOk()) {
      ASSERT_EQ(std::getenv("INLAY_REQUIRE_VULKAN"), nullptr) << devices.status().message();
      GTEST_SKIP() << devices.status().message();
    }
  }
};

TEST_F(LoaderOnDevice, copiesOfConstantsThatShareDataAreLimited) {
  OpenOptions options;
  options.memoryLimit = 3 << 20;
  EXPECT_EQ(loadPlan(sharedConstants(3, 1 << 20), options).status().message(), "");
  auto opened = loadPlan(sharedConstants(8, 1 << 20), options);
  EXPECT_EQ(opened.status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(opened.status().message().find("bytes of constants that share data exceed the memory limit"), 0u)
      << opened.status().message();
}

TEST_F(LoaderOnDevice, programsShareADevice) {
  std::shared_ptr<Device> device;
  {
    auto first = loadPlan(sumPlan()), second = loadPlan(sumPlan());
    ASSERT_TRUE(first.isOk()) << first.status().message();
    ASSERT_TRUE(second.isOk()) << second.status().message();
    EXPECT_EQ(first->device, second->device);
    std::vector<float> a = {1, 2, 3, 4}, c(4);
    EXPECT_EQ(second->program->call({view(a)}, {view(c)}).message(), "");
    EXPECT_EQ(c, (std::vector<float>{2, 4, 6, 8}));
    device = first->device;
  }
  auto again = reopenDevice(device), same = reopenDevice(device);
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_NE(*again, device);
  EXPECT_EQ(*again, *same);
  auto after = loadPlan(sumPlan());
  ASSERT_TRUE(after.isOk());
  EXPECT_EQ(after->device, *again);
}

TEST_F(LoaderOnDevice, aLostDeviceThatAProgramHoldsIsNotShared) {
  OpenOptions options;
  options.recovery = false;
  setenv("INLAY_DEVICE_TIMEOUT", "1e-9", 1);
  auto first = loadPlan(sumPlan(), options);
  unsetenv("INLAY_DEVICE_TIMEOUT");
  ASSERT_TRUE(first.isOk()) << first.status().message();
  std::vector<float> a = {1, 2, 3, 4}, c(4);
  Status lost = Status::ok();
  for (int i = 0; i < 1000 && lost.isOk(); ++i) // the device may be fast enough now and then
    lost = first->program->call({view(a)}, {view(c)});
  ASSERT_EQ(lost.code(), StatusCode::DeviceLost) << lost.message();
  auto second = loadPlan(sumPlan(), options);
  ASSERT_TRUE(second.isOk()) << second.status().message();
  EXPECT_NE(second->device, first->device);
  EXPECT_EQ(second->program->call({view(a)}, {view(c)}).message(), "");
}

TEST_F(LoaderOnDevice, errorsSayWhatEachDeviceLacks) {
  auto opened = loadPlan(sumPlan({"workgroup-memory=2000000000"}));
  EXPECT_EQ(opened.status().code(), StatusCode::Unavailable);
  const std::string &message = opened.status().message();
  EXPECT_NE(message.find("kernel 'sum': needs 2000000000 bytes of workgroup memory, but the device has"),
            std::string::npos)
      << message;
}

/// Returns `sumPlan` with a host version.
std::shared_ptr<Plan> sumPlanWith(const std::string &hostVersion, std::vector<std::string> requirements = {}) {
  std::shared_ptr<Plan> plan = sumPlan(std::move(requirements));
  plan->hostCode = sinePlan().plan->hostCode;
  plan->hostCode.functions = {{hostVersion, 3, {Access::Read, Access::Read, Access::Write}}};
  plan->engines[0].hostVersion = 0;
  return plan;
}

StatusOr<SegmentCheck> checkSum(const std::shared_ptr<Plan> &plan) {
  auto opened = loadPlan(plan);
  if (!opened.isOk())
    return opened.status();
  std::vector<float> a = {1, 2, 3, 4}, c(4);
  StatusOr<SegmentCheck> check = checkSegments(*opened, {}, {view(a)}, {view(c)});
  EXPECT_EQ(c, (std::vector<float>{2, 4, 6, 8}));
  return check;
}

TEST_F(LoaderOnDevice, segmentsAreCheckedAgainstTheirHostVersions) {
  auto right = checkSum(sumPlanWith("sample_sum")), wrong = checkSum(sumPlanWith("sample_sum_wrong"));
  ASSERT_TRUE(right.isOk()) << right.status().message();
  ASSERT_TRUE(wrong.isOk()) << wrong.status().message();
  ASSERT_EQ(right->differences.size(), 1u);
  EXPECT_EQ(right->differences[0].absolute, 0);
  EXPECT_EQ(right->differences[0].runs, 1u);
  ASSERT_EQ(wrong->differences.size(), 1u);
  EXPECT_EQ(wrong->differences[0].absolute, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(wrong->differences[0].relative), 1.0f / 8);
  EXPECT_EQ(wrong->differences[0].result, "c");
  auto none = checkSum(sumPlan());
  ASSERT_TRUE(none.isOk());
  EXPECT_TRUE(none->differences.empty());
  EXPECT_EQ(none->unchecked, (std::vector<std::string>{"step1"}));
}

TEST(Loader, withoutADeviceHostVersionsRun) {
  OpenOptions options;
  options.device = "none";
  auto opened = loadPlan(sumPlanWith("sample_sum", {"workgroup-memory=2000000000"}), options);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  EXPECT_EQ(opened->device, nullptr);
  std::vector<float> a = {1, 2, 3, 4}, c(4);
  Status status = opened->program->call({view(a)}, {view(c)});
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(c, (std::vector<float>{2, 4, 6, 8}));

  EXPECT_EQ(loadPlan(sumPlan(), options).status().message(), "device 'none': engine 'engine_sum' has no host version");
}

TEST_F(LoaderOnDevice, errorsSayWhetherTheHostCouldRunIt) {
  std::string advice = "; with the device 'none' the host runs all of it";
  auto can = loadPlan(sumPlanWith("sample_sum", {"workgroup-memory=2000000000"}));
  EXPECT_NE(can.status().message().find(advice), std::string::npos) << can.status().message();
  auto cannot = loadPlan(sumPlan({"workgroup-memory=2000000000"}));
  EXPECT_EQ(cannot.status().message().find(advice), std::string::npos) << cannot.status().message();
}

TEST(Difference, integersAreComparedExactly) {
  std::vector<int64_t> a = {(int64_t(1) << 53) + 1, -5}, b = {int64_t(1) << 53, -5};
  Difference difference;
  difference.add({a.data(), ElementType::I64, {2}}, {b.data(), ElementType::I64, {2}});
  EXPECT_EQ(difference.absolute, 1);
  EXPECT_GT(difference.relative, 0);
  Difference none;
  none.add({a.data(), ElementType::I64, {2}}, {a.data(), ElementType::I64, {2}});
  EXPECT_EQ(none.absolute, 0);
}

TEST(SegmentProbes, bodiesGrowWithWhatIsInThem) {
  PlanBuilder b;
  uint32_t condition = b.input("condition", {}), y = b.output("y", {Expr(4)});
  b.plan->buffers[condition].type.element = ElementType::Bool;
  uint32_t x = b.constant("x", MemorySpace::Device, {1, 2, 3, 4});
  uint32_t sum = b.temporary("sum", MemorySpace::Device, {Expr(4)});
  Kernel kernel;
  kernel.spirv = {0};
  kernel.bindings = {Access::Read, Access::Read, Access::Write};
  kernel.pushConstants = 1;
  b.plan->engines.push_back(elementwiseEngine(kernel, Expr(4)));
  b.hostFunction("sample_sum", {Access::Read, Access::Read, Access::Write});
  b.plan->engines[0].hostVersion = 0;
  b.control(StepKind::Branch, {condition}, {[&] { b.launch(0, {x, x, sum}); }, [&] { b.launch(0, {x, x, sum}); }});
  b.copy(sum, y);
  ASSERT_EQ(checkPlan(*b.plan).message(), "");
  ProbedPlan probed = probeSegments(*b.plan);
  EXPECT_EQ(checkPlan(probed.plan).message(), "");
  EXPECT_EQ(probed.probes.size(), 2u);
  // Each body has the launch, its host version, two copies of the result that both write, and the comparison.
  EXPECT_EQ(probed.plan.steps[0].bodies, (std::vector<uint32_t>{5, 5}));
  EXPECT_EQ(probed.plan.steps.size(), 12u);
}

TEST(SharedDevice, unfitDevicesAreNotChosen) {
  vulkan::DeviceCaps small = vulkan::DeviceCaps::computeDefault(), large = small, gone = small;
  large.float16 = true;
  gone.unusable = "too old";
  std::vector<vulkan::DeviceCaps> devices = {small, large, gone};
  markUnsuitable(devices, *sumPlan({"float16"}));
  EXPECT_EQ(devices[0].unusable, "kernel 'sum': needs 'float16', which device 'default' doesn't have");
  EXPECT_EQ(devices[1].unusable, "");
  EXPECT_EQ(devices[2].unusable, "too old");
}

} // namespace
