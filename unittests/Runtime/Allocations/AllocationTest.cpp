// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each allocation of an operation of the runtime fails in turn. The operation must return a typed error, no exception
// may leave it, and it must work afterwards.

#include "../FakeDevice.h"
#include "../PlanBuilder.h"
#include "../RandomPlan.h"
#include "Allocations.h"
#include "FailEach.h"
#include "Runtime/Host/Support/Processor.h"
#include "inlay-c/runtime.h"
#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Recovery.h"
#include "inlay/Runtime/Host/HostKernelLoader.h"
#include "inlay/Runtime/Loader/Loader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

PlanBuilder sinePlan() {
  PlanBuilder b;
  uint32_t x = b.input("x", {Expr::dim(0, 0)}), y = b.output("y", {Expr::dim(0, 0)});
  b.plan->symbols.push_back({"count", 1, 1 << 20, 0, 0});
  uint32_t t = b.temporary("a temporary with a long name", MemorySpace::Host, {Expr::dim(0, 0)});
  b.constant("weights with a long name", MemorySpace::Host, {1, 2, 3});
  b.plan->constants.back().key = "weights";
  b.copy(x, t);
  b.call(b.hostFunction("sample_sine", {Access::Read, Access::Write}), {t, y});
  b.plan->hostCode.triple = host::thisProcessor().arch + "-unknown-linux-gnu";
  std::ifstream file(INLAY_CODE_SAMPLE, std::ios::binary);
  b.plan->hostCode.objects.push_back({"any", {}, {std::istreambuf_iterator<char>(file), {}}});
  return b;
}

struct AllocationTest : testing::Test {
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "inlay-allocations-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder + "/m.inlay";
    plan = sinePlan().plan;
    ASSERT_EQ(writeContainer(path, *plan, {"{}", "{}"}).message(), "");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder, path;
  std::shared_ptr<Plan> plan;
};

/// The arguments of a call of `count` numbers.
struct Arguments {
  explicit Arguments(size_t count) : x(count), y(count), inputs{view(x)}, outputs{view(y)}, dims{{int64_t(count)}} {
    x[count - 1] = 2;
  }
  Arguments(const Arguments &) = delete;

  std::vector<float> x, y;
  std::vector<TensorView> inputs, outputs;
  InputDims dims;
};

/// Calls a program with four numbers and checks the result.
Status callSine(Program &program) {
  std::unique_ptr<Arguments> a = withoutFailures([] { return std::make_unique<Arguments>(4); });
  INLAY_RETURN_IF_ERROR(program.call(a->inputs, a->outputs));
  const std::vector<float> &y = a->y;
  return std::fabs(y[3] - (std::sin(2.0f) * 2 + 1)) < 1e-5f ? Status::ok()
                                                            : Status(StatusCode::Internal, "a wrong result");
}

} // namespace

TEST_F(AllocationTest, OfLoading) {
  auto work = [&] {
    StatusOr<LoadedProgram> opened = openProgram(path);
    return opened.status();
  };
  failEach(work, [&] {
    StatusOr<LoadedProgram> opened = openProgram(path);
    return opened.isOk() ? callSine(*opened->program) : opened.status();
  });
}

TEST_F(AllocationTest, OfCalls) {
  StatusOr<LoadedProgram> opened = openProgram(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  Program &program = *opened->program;
  failEach([&] { return callSine(program); });
  auto check = [&] { return callSine(program); };
  Arguments a(4);
  failEach([&] { return program.call(a.inputs).status(); }, check);
  failEach([&] { return program.outputDims(a.dims).status(); });
  failEach([&] { return program.memory(a.dims).status(); });
  failEach([&] { return program.profile(a.inputs, a.outputs).status(); }, check);
  Trace trace;
  failEach([&] { return program.profile(a.inputs, a.outputs, &trace).status(); }, check);
  size_t size = 4;
  auto callWithNewSizes = [&] { // the temporaries grow
    std::unique_ptr<Arguments> more = withoutFailures([&] { return std::make_unique<Arguments>(++size); });
    return program.call(more->inputs, more->outputs);
  };
  failEach(callWithNewSizes, check);
  auto weights = std::make_shared<std::vector<float>>(3, 1.0f);
  std::vector<std::pair<uint32_t, Constant>> replacements = {{0, {weights->data(), 12, weights}}};
  failEach([&] { return program.replaceConstants(replacements); }, check);
}

TEST_F(AllocationTest, OfSaving) {
  auto read = [&] { return readContainer(path).status(); };
  failEach([&] { return writeContainer(path, *plan, {"{}", "{}"}); }, read);
  failEach([&] { return writeContainer(path, *plan, {}, {"w.safetensors", false, true}); }, read);
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".tmp") << "nothing else is left";
}

TEST_F(AllocationTest, OfRecovery) {
  PlanBuilder b;
  uint32_t x = b.input("x", {Expr(kLanes)}), y = b.output("y", {Expr(kLanes)});
  uint32_t from = b.temporary("from", MemorySpace::Device, {Expr(kLanes)}),
           to = b.temporary("to", MemorySpace::Device, {Expr(kLanes)});
  uint32_t engine = b.engine("double", 2);
  b.plan->engines[engine].hostVersion =
      static_cast<int32_t>(b.hostFunction("doubleLanes", {Access::Read, Access::Write}));
  b.copy(x, from);
  b.launch(engine, {from, to});
  b.copy(to, y);
  auto life = [&] {
    auto device = withoutFailures([] { return std::make_shared<FakeDevice>(false); });
    auto library = withoutFailures([] { return std::make_shared<LaneLibrary>(); });
    RecoveryOptions options;
    options.firstBackoff = options.longestBackoff = std::chrono::milliseconds(1);
    options.notify = [](const RecoveryNotice &) {};
    StatusOr<std::unique_ptr<Program>> program = loadRecovering(b.plan, device, library, {}, {}, nullptr, options);
    if (!program.isOk())
      return program.status();
    for (int call = 0; call < 3; ++call) {
      device->failRuns = call == 1;
      std::unique_ptr<Arguments> a = withoutFailures([] { return std::make_unique<Arguments>(kLanes); });
      INLAY_RETURN_IF_ERROR((*program)->call(a->inputs, a->outputs));
      if (a->y[kLanes - 1] != 4)
        return Status(StatusCode::Internal, "a wrong result");
    }
    return Status::ok();
  };
  failEach(life);
}

TEST_F(AllocationTest, OfTheInterfaceOfC) {
  auto toStatus = [](InlayStatus status) {
    return status == InlayStatusOk ? Status::ok() : Status(static_cast<StatusCode>(status), inlayLastError());
  };
  int released = 0;
  auto life = [&]() -> Status {
    InlayProgram *program = nullptr;
    INLAY_RETURN_IF_ERROR(toStatus(inlayProgramOpen(path.c_str(), nullptr, &program)));
    std::unique_ptr<InlayProgram, decltype(&inlayProgramClose)> closer(program, inlayProgramClose);
    float x[4] = {0, 0, 0, 0}, y[4];
    int64_t dims[1] = {4};
    size_t rank = 0;
    InlayTensor input{x, InlayElementF32, 1, dims}, output{y, InlayElementF32, 1, dims};
    int64_t resultDims[1];
    INLAY_RETURN_IF_ERROR(toStatus(inlayProgramOutputDims(program, &input, 1, 0, resultDims, 1, &rank)));
    INLAY_RETURN_IF_ERROR(toStatus(inlayProgramCall(program, &input, 1, &output, 1)));
    InlayResult *result = nullptr;
    int before = released;
    InlayOwner owner{&released, [](void *count) { ++*static_cast<int *>(count); }};
    Status status = toStatus(inlayProgramRun(program, &input, &owner, 1, &result, 1));
    if (released != before + 1)
      return {StatusCode::Internal, "an owner was not released once"};
    if (status.isOk() != (result != nullptr))
      return {StatusCode::Internal, "a result without success"};
    inlayResultFree(result);
    return status;
  };
  failEach(life);
}

TEST_F(AllocationTest, OfCallsWhileAllMemoryIsGone) {
  StatusOr<LoadedProgram> opened = openProgram(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().message();
  for (int64_t number = 0; number < 40; ++number) {
    Arguments a(static_cast<size_t>(100 + number));
    failAllocation(number, /*all=*/true);
    Status status = opened->program->call(a.inputs, a.outputs);
    bool hasFailed = stopFailing();
    if (hasFailed && !status.isOk()) {
      EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
    }
    EXPECT_EQ(callSine(*opened->program).message(), "");
  }
}
