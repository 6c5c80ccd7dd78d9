// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of states that a program keeps between calls, with host functions and a fake device.

#include "../FakeDevice.h"
#include "../RandomPlan.h"

#include "inlay/Runtime/Core/PlanChecker.h"
#include "inlay/Runtime/Core/Recovery.h"

#include <gtest/gtest.h>

#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;
using namespace std::chrono_literals;

namespace {

using Lanes = std::vector<float>;
const std::vector<Expr> four = {Expr(kLanes)};

/// A program that adds its input to a state and returns the state. The parameter says if memory is unified.
struct SessionTest : testing::TestWithParam<bool> {
  uint32_t temporary(MemorySpace space) { return builder.temporary("t", space, four); }

  /// Adds `from` to the state in place, on the host.
  void accumulateOnHost(uint32_t from) {
    total = builder.state("total", MemorySpace::Host, four);
    uint32_t function = builder.hostFunction("accumulateLanes", {Access::Read, Access::ReadWrite});
    builder.call(function, {from, total});
  }
  /// Does the same on the device, with a host version.
  void accumulateOnDevice(uint32_t from) {
    total = builder.state("total", MemorySpace::Device, four);
    uint32_t engine = builder.engine("accumulate", 2);
    builder.plan->engines[engine].kernels[0].bindings[1] = Access::ReadWrite;
    uint32_t version = builder.hostFunction("accumulateLanes", {Access::Read, Access::ReadWrite});
    builder.plan->engines[engine].hostVersion = static_cast<int32_t>(version);
    builder.launch(engine, {from, total});
    builder.plan->steps.back().name = "accumulate";
  }
  void makeHostPlan() {
    accumulateOnHost(x);
    builder.copy(total, y);
  }
  void makeDevicePlan() {
    uint32_t dx = temporary(MemorySpace::Device);
    builder.copy(x, dx);
    accumulateOnDevice(dx);
    builder.copy(total, y);
  }
  /// Adds a step that calls `callback`.
  void addCallback() {
    builder.plan->callbacks.push_back({"callback", 1});
    builder.step(StepKind::Callback, static_cast<uint32_t>(builder.plan->callbacks.size() - 1), {x});
  }

  void load() {
    auto loaded = Program::load(builder.plan, first, std::make_shared<LaneLibrary>(), callback);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
  }
  void loadRecovering() {
    RecoveryOptions options;
    options.notify = [this](const RecoveryNotice &) { ++notices; };
    options.reopenDevice = [this]() -> StatusOr<std::shared_ptr<Device>> { return std::shared_ptr<Device>(second); };
    options.firstBackoff = backoff;
    options.longestBackoff = 10s;
    auto loaded =
        inlay::rt::loadRecovering(builder.plan, first, std::make_shared<LaneLibrary>(), callback, {}, nullptr, options);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
  }
  std::shared_ptr<Session> makeSession() {
    auto session = program->makeSession();
    EXPECT_TRUE(session.isOk()) << session.status().message();
    return *session;
  }
  /// Calls the program with all lanes set to `value`. Returns the error.
  std::string call(Session *session, float value) {
    Lanes in(kLanes, value);
    out.assign(kLanes, -1);
    return program->call({view(in)}, {view(out)}, session).message();
  }
  void expectTotal(Session *session, float added, float expected) {
    ASSERT_EQ(call(session, added), "");
    EXPECT_EQ(out, Lanes(kLanes, expected));
  }

  PlanBuilder builder;
  uint32_t x = builder.input("x", four), y = builder.output("y", four), total = 0;
  std::shared_ptr<FakeDevice> first = std::make_shared<FakeDevice>(GetParam()),
                              second = std::make_shared<FakeDevice>(GetParam());
  CallbackHandler callback;
  std::atomic<int> notices{0};
  std::chrono::milliseconds backoff{10000}; ///< Longer than a test that does not wait for it.
  std::unique_ptr<Program> program;
  Lanes out;
};

const char *const kUndefined =
    "the state of the session is undefined, because a call failed: reset it or write its states";

} // namespace

INSTANTIATE_TEST_SUITE_P(Memory, SessionTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Unified" : "Apart"; });

//===-- Calls ---------------------------------------------------------------------------------------------------===//

TEST_P(SessionTest, StatesLiveFromCallToCallAndSessionsAreIndependent) {
  for (bool onDevice : {false, true}) {
    SCOPED_TRACE(onDevice);
    builder = {};
    x = builder.input("x", four), y = builder.output("y", four);
    onDevice ? makeDevicePlan() : makeHostPlan();
    load();
    auto a = makeSession(), b = makeSession();
    expectTotal(a.get(), 1, 1);
    expectTotal(a.get(), 2, 3);
    expectTotal(b.get(), 10, 10);
    expectTotal(a.get(), 4, 7);
    expectTotal(b.get(), 20, 30);
    ASSERT_TRUE(a->reset().isOk());
    expectTotal(a.get(), 5, 5);
    expectTotal(b.get(), 1, 31);
    auto results = program->callForResults({view(out)}, b.get());
    ASSERT_TRUE(results.isOk()) << results.status().message();
    EXPECT_EQ(static_cast<float *>((*results)[0].data)[3], 62);
    Lanes in(kLanes, 1);
    ASSERT_TRUE(program->profile({view(in)}, {view(out)}, nullptr, b.get()).isOk());
    EXPECT_EQ(out, Lanes(kLanes, 63));
  }
}

TEST_P(SessionTest, StatesCanBeReadAndWritten) {
  makeDevicePlan();
  load();
  auto session = makeSession();
  EXPECT_EQ(session->read(0).status().message(),
            "state 'total' has no contents yet: call the program or write the state first");
  EXPECT_EQ(session->dims(1).status().message(), "state 1 is out of range: the program has 1 states");
  Lanes values = {1, 2, 3, 4};
  ASSERT_TRUE(session->write(0, view(values)).isOk());
  EXPECT_EQ(*session->dims(0), std::vector<int64_t>{4});
  ASSERT_EQ(call(session.get(), 0), "");
  EXPECT_EQ(out, values) << "written before the first call";
}

TEST_P(SessionTest, AWrittenStateIsUsedInPlaceOfTheOldOne) {
  makeDevicePlan();
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  auto copy = session->read(0);
  ASSERT_TRUE(copy.isOk());
  Lanes values(kLanes, 8);
  ASSERT_TRUE(session->write(0, view(values)).isOk());
  expectTotal(session.get(), 1, 9);
  EXPECT_EQ(static_cast<float *>(copy->data)[0], 1) << "a copy does not change";
  ASSERT_TRUE(session->write(0, *copy).isOk());
  expectTotal(session.get(), 1, 2);
  Lanes three(3);
  EXPECT_EQ(session->write(0, view(three)).message(), "state 'total': expected float32[4], but got float32[3]");
  EXPECT_EQ(session->write(0, {nullptr, ElementType::F32, {4}}).message(), "state 'total': its data is null");
  expectTotal(session.get(), 1, 3);
}

TEST_P(SessionTest, WrongValuesReplaceNoState) {
  makeDevicePlan();
  uint32_t last = builder.state("last", MemorySpace::Host, four);
  builder.copy(x, last);
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  Lanes fives(kLanes, 5), nines(kLanes, 9), three(3);
  auto expectLanes = [&](uint32_t state, float expected) {
    auto value = session->read(state);
    ASSERT_TRUE(value.isOk()) << value.status().message();
    EXPECT_EQ(*static_cast<float *>(value->data), expected);
  };
  ASSERT_TRUE(session->write({{0, view(fives)}, {1, view(nines)}}).isOk());
  expectLanes(0, 5);
  expectLanes(1, 9);
  EXPECT_EQ(session->write({{0, view(nines)}, {1, view(three)}}).message(),
            "state 'last': expected float32[4], but got float32[3]");
  EXPECT_EQ(session->write({{0, view(nines)}, {7, view(nines)}}).message(),
            "state 7 is out of range: the program has 2 states");
  EXPECT_EQ(session->write({{0, view(nines)}, {1, {nullptr, ElementType::F32, {4}}}}).message(),
            "state 'last': its data is null");
  EXPECT_EQ(session->write({{0, view(nines)}, {0, view(nines)}}).message(), "state 'total' is given twice");
  expectLanes(0, 5);
  expectLanes(1, 9);
  expectTotal(session.get(), 1, 6);
}

TEST_P(SessionTest, ASessionOutlivesItsProgram) {
  makeDevicePlan();
  load();
  auto session = makeSession();
  expectTotal(session.get(), 3, 3);
  program = nullptr;
  auto value = session->read(0);
  ASSERT_TRUE(value.isOk()) << value.status().message();
  EXPECT_EQ(static_cast<float *>(value->data)[0], 3);
}

TEST_P(SessionTest, WrongSessionsAreRefused) {
  makeHostPlan();
  load();
  auto other = makeSession();
  std::unique_ptr<Program> old = std::move(program);
  load();
  EXPECT_EQ(call(nullptr, 1), "the program has state: pass a session, which makeSession() makes");
  EXPECT_EQ(call(other.get(), 1),
            "the session belongs to another program: pass one that makeSession() of this program has made");
  EXPECT_FALSE(other->dims(0).isOk()) << "it was not used";
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
}

TEST_P(SessionTest, AProgramWithoutStatesTakesItsSessions) {
  builder.copy(x, y);
  load();
  auto session = makeSession();
  expectTotal(session.get(), 3, 3);
  session = nullptr;
  expectTotal(nullptr, 4, 4);
}

/// The dims of a state follow the inputs, and a session keeps them.
TEST_P(SessionTest, InputsMustKeepTheDimsOfStates) {
  Expr n = Expr::dim(0, 0);
  builder = {};
  uint32_t in = builder.input("in", {n}), result = builder.output("result", {n});
  uint32_t last = builder.state("last", GetParam() ? MemorySpace::Device : MemorySpace::Host, {n});
  builder.copy(last, result);
  builder.copy(in, last);
  load();
  auto session = makeSession();
  auto callWith = [&](Lanes values) {
    out.assign(values.size(), -1);
    return program->call({view(values)}, {view(out)}, session.get()).message();
  };
  ASSERT_EQ(callWith({1, 2}), "");
  EXPECT_EQ(out, Lanes({0, 0})) << "a new state is zeros";
  EXPECT_EQ(callWith({1, 2, 3}), "state 'last': the session has float32[2], but the inputs of this call make it "
                                 "float32[3]: make another session or reset this one");
  ASSERT_EQ(callWith({3, 4}), "");
  EXPECT_EQ(out, Lanes({1, 2})) << "the refused call changed nothing";
  ASSERT_TRUE(session->reset().isOk());
  ASSERT_EQ(callWith({1, 2, 3}), "");
  EXPECT_EQ(out, Lanes({0, 0, 0}));
  ASSERT_TRUE(session->reset().isOk());
  ASSERT_EQ(callWith({}), "") << "an empty state";
  EXPECT_EQ(*session->dims(0), std::vector<int64_t>{0});
}

//===-- Failures ------------------------------------------------------------------------------------------------===//

TEST_P(SessionTest, ACallThatFailsBeforeItWritesKeepsTheState) {
  addCallback();
  makeHostPlan();
  Status result;
  callback = [&](uint32_t, auto &, auto &, auto &) { return result; };
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  result = {StatusCode::Internal, "no"};
  EXPECT_EQ(call(session.get(), 1), "callback 'callback': no");
  result = Status::ok();
  expectTotal(session.get(), 1, 2);
}

TEST_P(SessionTest, ACallThatFailsAfterItWroteLeavesTheStateUndefined) {
  makeDevicePlan();
  addCallback();
  Status result;
  callback = [&](uint32_t, auto &, auto &, auto &) { return result; };
  load();
  auto session = makeSession(), other = makeSession();
  expectTotal(session.get(), 1, 1);
  result = {StatusCode::Internal, "no"};
  EXPECT_EQ(call(session.get(), 1), "callback 'callback': no");
  result = Status::ok();
  EXPECT_EQ(call(session.get(), 1), kUndefined);
  EXPECT_EQ(session->read(0).status().message(),
            "state 'total' is undefined, because a call failed: reset the session or write its states");
  expectTotal(other.get(), 2, 2);
  Lanes values(kLanes, 5);
  ASSERT_TRUE(session->write(0, view(values)).isOk());
  expectTotal(session.get(), 1, 6);
  result = {StatusCode::Internal, "no"};
  EXPECT_NE(call(session.get(), 1), "");
  result = Status::ok();
  ASSERT_TRUE(session->reset().isOk());
  expectTotal(session.get(), 3, 3);
}

TEST_P(SessionTest, AFailedAllocationOfAStateFailsTheCallOnly) {
  makeDevicePlan();
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  auto other = makeSession();
  first->failAllocations = 2; // the call tries twice
  EXPECT_NE(call(other.get(), 1).find("fake memory is full"), std::string::npos);
  expectTotal(other.get(), 1, 1);
  expectTotal(session.get(), 1, 2);
}

TEST_P(SessionTest, StatesCountForTheLimitOfACall) {
  makeHostPlan();
  load();
  program->limitTemporaries({15, UINT64_MAX});
  auto session = makeSession();
  EXPECT_NE(call(session.get(), 1).find("bytes of a session's states exceed the memory limit"), std::string::npos);
  auto use = program->memory({{4}});
  ASSERT_TRUE(use.isOk());
  EXPECT_EQ(use->hostStates, 16u);
  EXPECT_EQ(use->deviceStates, 0u);
}

//===-- One call at a time --------------------------------------------------------------------------------------===//

TEST_P(SessionTest, ASessionServesOneCallAtATime) {
  makeHostPlan();
  addCallback();
  std::shared_ptr<Session> session;
  std::vector<std::string> errors;
  callback = [&](uint32_t, auto &, auto &, auto &) {
    Lanes in(kLanes, 1), result(kLanes);
    errors.push_back(program->call({view(in)}, {view(result)}, session.get()).message());
    std::thread([&] { errors.push_back(program->call({view(in)}, {view(result)}, session.get()).message()); }).join();
    errors.push_back(session->read(0).status().message());
    errors.push_back(session->write(0, view(in)).message());
    errors.push_back(session->reset().message());
    return Status::ok();
  };
  load();
  session = makeSession();
  expectTotal(session.get(), 1, 1);
  EXPECT_EQ(errors,
            std::vector<std::string>(5, "the session is in use by another call: a session serves one call at a time"));
  callback = {};
  expectTotal(session.get(), 1, 2);
}

TEST_P(SessionTest, ThreadsWithSessionsOfTheirOwn) {
  makeDevicePlan();
  load();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 4; ++repeat) {
        auto session = *program->makeSession();
        Lanes in(kLanes, float(t)), result(kLanes);
        for (int i = 1; i <= 50; ++i) {
          bool ok = program->call({view(in)}, {view(result)}, session.get()).isOk();
          wrong += !ok || result[0] != float(t * i) || result[3] != float(t * i);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

//===-- Commands and memory -------------------------------------------------------------------------------------===//

TEST_P(SessionTest, CommandsAreReboundOnlyForAnotherSession) {
  makeDevicePlan();
  load();
  auto a = makeSession(), b = makeSession();
  for (int i = 1; i <= 4; ++i)
    expectTotal(a.get(), 1, float(i));
  EXPECT_EQ(first->records, 1);
  EXPECT_EQ(first->rebinds, 0);
  expectTotal(b.get(), 1, 1);
  expectTotal(b.get(), 1, 2);
  EXPECT_EQ(first->records, 1);
  EXPECT_EQ(first->rebinds, 1);
  expectTotal(a.get(), 1, 5);
  EXPECT_EQ(first->rebinds, 2);
}

/// Contexts that know the session are preferred, so that alternating calls of two sessions rebind nothing.
TEST_P(SessionTest, SessionsGetTheContextThatTheyAreBoundTo) {
  makeDevicePlan();
  addCallback();
  std::shared_ptr<Session> a, b;
  bool nests = true;
  callback = [&](uint32_t, auto &, auto &, auto &) {
    Lanes in(kLanes, 1), result(kLanes);
    if (std::exchange(nests, false))
      return program->call({view(in)}, {view(result)}, b.get());
    return Status::ok();
  };
  load();
  a = makeSession(), b = makeSession();
  expectTotal(a.get(), 1, 1);
  EXPECT_EQ(first->records, 2) << "two contexts";
  for (int i = 2; i <= 4; ++i) {
    expectTotal(a.get(), 1, float(i));
    expectTotal(b.get(), 1, float(i));
  }
  EXPECT_EQ(first->rebinds, 0);
  EXPECT_EQ(first->records, 2);
}

TEST_P(SessionTest, MemoryOfASessionIsFreedWithIt) {
  makeDevicePlan();
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  size_t before = first->liveBuffers();
  ASSERT_TRUE(session->reset().isOk());
  EXPECT_EQ(first->liveBuffers(), before - 1);
  expectTotal(session.get(), 1, 1);
  EXPECT_EQ(first->liveBuffers(), before);
  session = nullptr;
  EXPECT_EQ(first->liveBuffers(), before - 1);
}

/// The call in flight uses the only context, which still has an instance for the sizes of the other session.
TEST_P(SessionTest, MemoryOfASessionThatIsClosedDuringAnotherCallIsFreedAfterIt) {
  Expr n = Expr::dim(0, 0);
  builder = {};
  uint32_t in = x = builder.input("in", {n}), result = builder.output("result", {n});
  uint32_t last = builder.state("last", MemorySpace::Device, {n});
  builder.copy(last, result);
  builder.copy(in, last);
  addCallback();
  std::shared_ptr<Session> closed;
  size_t before = 0;
  callback = [&](uint32_t, auto &, auto &, auto &) {
    before = first->liveBuffers();
    closed = nullptr;
    return Status::ok();
  };
  load();
  auto callWith = [&](Session *session, Lanes values) {
    out.assign(values.size(), -1);
    return program->call({view(values)}, {view(out)}, session).message();
  };
  auto session = makeSession(), other = makeSession();
  ASSERT_EQ(callWith(other.get(), {1, 2}), "");
  closed = std::move(other);
  ASSERT_EQ(callWith(session.get(), {1, 2, 3}), "");
  EXPECT_EQ(first->liveBuffers(), before - 1);
  ASSERT_EQ(callWith(session.get(), {4, 5, 6}), "");
  EXPECT_EQ(out, Lanes({1, 2, 3}));
}

//===-- Recovery ------------------------------------------------------------------------------------------------===//

/// Returns the error of a state that was lost with its device.
static std::string lostError() {
  return "state 'total' can't be copied from device 'fake': fake device is lost: reset the session or write its states";
}

TEST_P(SessionTest, AStateFollowsItsProgramToTheHostAndBack) {
  makeDevicePlan();
  backoff = 50ms;
  loadRecovering();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  first->lost = true;
  if (GetParam()) {
    expectTotal(session.get(), 1, 2);
    expectTotal(session.get(), 1, 3);
  } else {
    EXPECT_EQ(call(session.get(), 1), lostError()) << "only the device had its bytes";
    EXPECT_EQ(call(session.get(), 1), lostError());
    ASSERT_TRUE(session->reset().isOk());
    expectTotal(session.get(), 3, 3);
  }
  for (int i = 0; i < 1000 && notices < 2; ++i)
    std::this_thread::sleep_for(5ms);
  ASSERT_EQ(notices, 2);
  EXPECT_EQ(second->submissions, 0);
  expectTotal(session.get(), 1, 4);
  expectTotal(session.get(), 1, 5);
  EXPECT_EQ(second->submissions, 2);
}

/// The device is lost while a launch that writes the state runs. Nobody knows how much of it was done.
TEST_P(SessionTest, AStateThatALostLaunchWritesIsUndefined) {
  makeDevicePlan();
  loadRecovering();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  first->failWaits = 1;
  EXPECT_EQ(call(session.get(), 1),
            "segment 'accumulate': fake device never came back; the call isn't run again on the host, as segment "
            "'accumulate' had begun to change the state of the session, which is now undefined");
  EXPECT_EQ(call(session.get(), 1), kUndefined);
  ASSERT_TRUE(session->reset().isOk());
  expectTotal(session.get(), 1, 1);
}

/// A launch fails before the one that writes the state. The host repeats the call with the old state.
TEST_P(SessionTest, ACallIsRunAgainWithTheStateThatItBeganWith) {
  LaneFunctions functions{builder};
  uint32_t dx = temporary(MemorySpace::Device), twice = temporary(MemorySpace::Device),
           onHost = temporary(MemorySpace::Host), back = temporary(MemorySpace::Device);
  builder.copy(x, dx);
  builder.launch(functions.twice, {dx, twice});
  builder.copy(twice, onHost);
  uint32_t one = temporary(MemorySpace::Host);
  builder.call(functions.addOne, {onHost, one}); // separates the submissions
  builder.copy(one, back);
  accumulateOnDevice(back);
  builder.copy(total, y);
  loadRecovering();
  auto session = makeSession();
  expectTotal(session.get(), 1, 3);
  first->failRunsOf = "engine_double";
  expectTotal(session.get(), 1, 6);
  EXPECT_EQ(notices, 1);
  expectTotal(session.get(), 1, 9);
  EXPECT_GE(first->submissions, 4) << "the state stays on the device";
}

/// One of two engines that use a state fails. The host version works on a copy, which returns to the device.
TEST_P(SessionTest, AHostVersionUpdatesAStateOnTheDevice) {
  LaneFunctions functions{builder};
  uint32_t dx = temporary(MemorySpace::Device), result = temporary(MemorySpace::Device);
  builder.copy(x, dx);
  accumulateOnDevice(dx);
  builder.launch(functions.twice, {total, result});
  builder.copy(result, y);
  first->failRecordsOf = "engine_accumulate";
  loadRecovering();
  auto session = makeSession();
  expectTotal(session.get(), 1, 2);
  expectTotal(session.get(), 2, 6);
  EXPECT_EQ(first->submissions, 2) << "the other engine runs on the device";
}

//===-- Plans ---------------------------------------------------------------------------------------------------===//

TEST_P(SessionTest, TheCheckerNamesWrongStates) {
  makeDevicePlan();
  Plan good = *builder.plan;
  ASSERT_TRUE(checkPlan(good).isOk()) << checkPlan(good).message();
  auto error = [&](auto change) {
    Plan plan = good;
    change(plan);
    return checkPlan(plan).message();
  };
  EXPECT_EQ(error([&](Plan &plan) { plan.states = {99}; }), "state 0: buffer 99 is out of range of 4");
  EXPECT_EQ(error([&](Plan &plan) { plan.states = {x}; }), "state 0: buffer 0 ('x') isn't this state");
  EXPECT_EQ(error([&](Plan &plan) { plan.states.push_back(total); }), "state 1: buffer 3 ('total') isn't this state");
  EXPECT_EQ(error([&](Plan &plan) { plan.states.clear(); }),
            "buffer 3 ('total'): is marked as state 0, but the plan's list has no such entry");
  EXPECT_EQ(error([&](Plan &plan) { plan.buffers[total].type.dims = {Expr::dim(5, 0)}; }).find("buffer 3 ('total')"),
            0u);
  EXPECT_EQ(error([&](Plan &plan) {
              plan.callbacks.push_back({"callback", 0});
              plan.buffers[total].space = MemorySpace::Host;
              plan.steps = {{StepKind::Callback, 0, {total}, {}, "bad"}};
            }),
            "step 0 ('bad'): writes buffer 3 ('total'), which is a state: expected it among the inputs only");
}
