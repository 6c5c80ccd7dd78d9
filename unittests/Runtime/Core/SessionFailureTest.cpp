// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of states after failures of calls, of functions of a session, and of devices.

#include "SessionFixture.h"

#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;
using namespace std::chrono_literals;

namespace {

struct SessionFailureTest : SessionFixture {};

const char *const kUndefined =
    "the state of the session is undefined, because a call or a write failed: reset it or write its states";

} // namespace

INSTANTIATE_TEST_SUITE_P(Memory, SessionFailureTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "Unified" : "Apart"; });

//===-- Calls ---------------------------------------------------------------------------------------------------===//

TEST_P(SessionFailureTest, ACallThatFailsBeforeItWritesKeepsTheState) {
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

TEST_P(SessionFailureTest, ACallThatFailsAfterItWroteLeavesTheStateUndefined) {
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
            "state 'total' is undefined, because a call or a write failed: reset the session or write its states");
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

TEST_P(SessionFailureTest, AFailedAllocationOfAStateFailsTheCallOnly) {
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

TEST_P(SessionFailureTest, StatesCountForTheLimitOfACall) {
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

/// A call that is refused must not leave the context bound to the memory of a session that was closed.
TEST_P(SessionFailureTest, ARefusedCallKeepsNoMemoryOfAClosedSession) {
  makeLastPlan();
  load();
  auto closed = makeSession(), other = makeSession();
  ASSERT_EQ(call(closed.get(), Lanes{1, 2}), "");
  Lanes three = {1, 2, 3};
  ASSERT_TRUE(other->write(0, view(three)).isOk());
  size_t before = first->liveBuffers();
  EXPECT_EQ(call(other.get(), Lanes{1, 2}),
            "state 'last': the session has float32[3], but the inputs of this call make "
            "it float32[2]: make another session or reset this one");
  ASSERT_EQ(call(closed.get(), Lanes{3, 4}), "");
  EXPECT_EQ(out, Lanes({1, 2}));
  EXPECT_NE(call(other.get(), Lanes{1, 2}), "");
  closed = nullptr;
  EXPECT_EQ(first->liveBuffers(), before - 1);
}

/// The states before the one that failed are written, and those from it on are undefined.
TEST_P(SessionFailureTest, AWriteThatFailsNamesTheState) {
  if (GetParam())
    GTEST_SKIP() << "the host writes states of such a device";
  makeDevicePlan();
  uint32_t before = builder.state("before", MemorySpace::Host, four),
           after = builder.state("after", MemorySpace::Host, four);
  builder.copy(x, before);
  builder.copy(x, after);
  load();
  auto session = makeSession();
  expectTotal(session.get(), 1, 1);
  Lanes nines(kLanes, 9);
  first->failUploads = 1;
  Status status = session->write({{1, view(nines)}, {0, view(nines)}, {2, view(nines)}});
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message(), "state 'total': fake staging is full: this state and those after it are undefined: write "
                              "them again or reset the session");
  auto written = session->read(1);
  ASSERT_TRUE(written.isOk()) << written.status().message();
  EXPECT_EQ(*static_cast<float *>(written->data), 9);
  EXPECT_FALSE(session->read(0).isOk());
  EXPECT_EQ(session->read(2).status().message(),
            "state 'after' is undefined, because a call or a write failed: reset the session or write its states");
  EXPECT_EQ(call(session.get(), 1), kUndefined);
  ASSERT_TRUE(session->write({{0, view(nines)}, {2, view(nines)}}).isOk());
  expectTotal(session.get(), 1, 10);
}

//===-- Recovery ------------------------------------------------------------------------------------------------===//

/// Returns the error of a state that was lost with its device.
static std::string lostError() {
  return "state 'total' can't be copied from device 'fake': fake device is lost: reset the session or write its states";
}

TEST_P(SessionFailureTest, AStateFollowsItsProgramToTheHostAndBack) {
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
TEST_P(SessionFailureTest, AStateThatALostLaunchWritesIsUndefined) {
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
TEST_P(SessionFailureTest, ACallIsRunAgainWithTheStateThatItBeganWith) {
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
TEST_P(SessionFailureTest, AHostVersionUpdatesAStateOnTheDevice) {
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

/// A state that can't be moved to the new device must not leave the context bound to memory of another session.
TEST_P(SessionFailureTest, AStateThatWasLostKeepsNoMemoryOfAClosedSession) {
  if (GetParam())
    GTEST_SKIP() << "the memory of such a device survives it";
  makeDevicePlan();
  backoff = 50ms;
  loadRecovering();
  auto closed = makeSession(), lost = makeSession();
  expectTotal(lost.get(), 1, 1);
  first->lost = true;
  EXPECT_EQ(call(lost.get(), 1), lostError());
  for (int i = 0; i < 1000 && notices < 2; ++i)
    std::this_thread::sleep_for(5ms);
  ASSERT_EQ(notices, 2);
  expectTotal(closed.get(), 1, 1);
  size_t before = second->liveBuffers();
  EXPECT_EQ(call(lost.get(), 1), lostError());
  closed = nullptr;
  EXPECT_LT(second->liveBuffers(), before);
}
