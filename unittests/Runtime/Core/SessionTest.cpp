// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of states that a program keeps between calls, with host functions and a fake device.

#include "SessionFixture.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

struct SessionTest : SessionFixture {};

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
  Lanes in(kLanes, 1);
  const char *refusal = "the session belongs to another program";
  EXPECT_EQ(program->callForResults({view(in)}, other.get()).status().message().find(refusal), 0u);
  EXPECT_EQ(program->profile({view(in)}, {view(out)}, nullptr, other.get()).status().message().find(refusal), 0u);
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
  makeLastPlan();
  addCallback();
  std::shared_ptr<Session> closed;
  size_t before = 0;
  callback = [&](uint32_t, auto &, auto &, auto &) {
    before = first->liveBuffers();
    closed = nullptr;
    return Status::ok();
  };
  load();
  auto session = makeSession(), other = makeSession();
  ASSERT_EQ(call(other.get(), Lanes{1, 2}), "");
  closed = std::move(other);
  ASSERT_EQ(call(session.get(), Lanes{1, 2, 3}), "");
  EXPECT_EQ(first->liveBuffers(), before - 1);
  ASSERT_EQ(call(session.get(), Lanes{4, 5, 6}), "");
  EXPECT_EQ(out, Lanes({1, 2, 3}));
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
