// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each allocation of a call with a session fails in turn. After an error the state is unchanged or undefined, so that a
// call that is repeated never counts twice.

#include "../FakeDevice.h"
#include "../RandomPlan.h"
#include "../TemporaryPath.h"
#include "Allocations.h"
#include "FailEach.h"
#include "inlay-c/runtime.h"
#include "inlay/Runtime/Container/Container.h"
#include "inlay/Runtime/Core/Recovery.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// A program that adds its input to a state on the device and returns the state.
std::shared_ptr<Plan> accumulatingPlan() {
  PlanBuilder b;
  const std::vector<Expr> dims = {Expr(kLanes)};
  uint32_t x = b.input("x", dims), y = b.output("y", dims), from = b.temporary("from", MemorySpace::Device, dims);
  uint32_t total = b.state("total", MemorySpace::Device, dims), engine = b.engine("accumulate", 2);
  b.plan->engines[engine].kernels[0].bindings[1] = Access::ReadWrite;
  uint32_t version = b.hostFunction("accumulateLanes", {Access::Read, Access::ReadWrite});
  b.plan->engines[engine].hostVersion = static_cast<int32_t>(version);
  b.copy(x, from);
  b.launch(engine, {from, total});
  b.plan->steps.back().name = "a step with a long name";
  b.copy(total, y);
  return b.plan;
}

/// The parameter says if the program recovers.
struct SessionAllocationTest : testing::TestWithParam<bool> {
  void SetUp() override { load(); }
  void load() {
    auto device = std::make_shared<FakeDevice>(false);
    auto library = std::make_shared<LaneLibrary>();
    RecoveryOptions options;
    options.notify = [](const RecoveryNotice &) {};
    auto loaded = GetParam() ? loadRecovering(accumulatingPlan(), device, library, {}, {}, nullptr, options)
                             : Program::load(accumulatingPlan(), device, library);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
    session = *program->makeSession();
  }

  /// Fails each allocation of `call`, which adds 1 to the state.
  void failEachOf(const std::function<Status()> &call) {
    float expected = 0;
    auto work = [&] {
      std::shared_ptr<Session> before = session;
      Status status = call();
      expected = (session == before ? expected : 0) + (status.isOk() ? 1 : 0);
      return status;
    };
    auto check = [&]() -> Status {
      StatusOr<TensorView> value = session->read(0);
      if (!value.isOk()) { // undefined
        expected = 0;
        return session->reset();
      }
      if (*static_cast<float *>(value->data) != expected)
        return {StatusCode::Internal, "a call that failed has changed the state"};
      return Status::ok();
    };
    failEach(work, check);
  }

  std::unique_ptr<Program> program;
  std::shared_ptr<Session> session;
  std::vector<float> x = std::vector<float>(kLanes, 1), y = std::vector<float>(kLanes);
  std::vector<TensorView> inputs = {view(x)}, outputs = {view(y)};
};
INSTANTIATE_TEST_SUITE_P(Programs, SessionAllocationTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Recovering" : "Plain"; });

} // namespace

TEST_P(SessionAllocationTest, OfCalls) {
  failEachOf([&] { return program->call(inputs, outputs, session.get()); });
}

TEST_P(SessionAllocationTest, OfFirstCalls) {
  failEachOf([&] {
    withoutFailures([&] { load(); });
    return program->call(inputs, outputs, session.get());
  });
}

TEST_P(SessionAllocationTest, OfCallsForResults) {
  failEachOf([&] { return program->callForResults(inputs, session.get()).status(); });
}

TEST_P(SessionAllocationTest, OfProfiles) {
  failEachOf([&] { return program->profile(inputs, outputs, nullptr, session.get()).status(); });
}

/// A program that stores its input in a state.
TEST(SessionAllocationOfC, OfCalls) {
  std::string path = temporaryPath("session.inlay");
  PlanBuilder b;
  uint32_t x = b.input("x", {Expr(1)}), y = b.output("y", {Expr(1)}),
           last = b.state("last", MemorySpace::Host, {Expr(1)});
  b.copy(last, y);
  b.copy(x, last);
  ASSERT_EQ(writeContainer(path, *b.plan, {"{}", "{}"}).message(), "");
  InlayProgram *program = nullptr;
  InlaySession *session = nullptr;
  ASSERT_EQ(inlayProgramOpen(path.c_str(), nullptr, &program), InlayStatusOk) << inlayLastError();
  ASSERT_EQ(inlaySessionMake(program, &session), InlayStatusOk) << inlayLastError();
  float number = 0, expected = 0;
  int64_t dims[1] = {1};
  auto toStatus = [](InlayStatus status) {
    return status == InlayStatusOk ? Status::ok() : Status(static_cast<StatusCode>(status), inlayLastError());
  };
  auto work = [&]() -> Status {
    InlayTensor input{&++number, InlayElementF32, 1, dims};
    InlayResult *result = nullptr;
    InlayStatus status = inlaySessionRun(session, program, &input, nullptr, 1, &result, 1);
    if ((status == InlayStatusOk) != (result != nullptr))
      return {StatusCode::Internal, "a result without success"};
    if (result && *static_cast<const float *>(inlayResultTensor(result).data) != expected)
      return {StatusCode::Internal, "a wrong result"};
    inlayResultFree(result);
    expected = status == InlayStatusOk ? number : expected;
    return withoutFailures([&] { return toStatus(status); });
  };
  auto check = [&]() -> Status {
    InlayResult *value = nullptr;
    if (inlaySessionRead(session, 0, &value) != InlayStatusOk) { // undefined
      expected = 0;
      return toStatus(inlaySessionReset(session));
    }
    bool isOld = *static_cast<const float *>(inlayResultTensor(value).data) == expected;
    inlayResultFree(value);
    return isOld ? Status::ok() : Status(StatusCode::Internal, "a call that failed has changed the state");
  };
  failEach(work, check);
  inlaySessionFree(session);
  inlayProgramClose(program);
  std::filesystem::remove(path);
}
