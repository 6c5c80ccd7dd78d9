// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of recovery from all failures that a fake device can produce.

#include "../Child.h"
#include "../FakeDevice.h"
#include "../RandomPlan.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;
using namespace std::chrono_literals;

namespace {

/// Collects notices.
class Notices {
public:
  void add(const RecoveryNotice &notice) {
    std::lock_guard<std::mutex> lock(mutex_);
    notices_.push_back(notice);
    changed_.notify_all();
  }
  /// Waits for `count` notices.
  bool wait(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return notices_.size() >= count; });
  }
  std::vector<RecoveryNotice> all() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return notices_;
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RecoveryNotice> notices_;
};

/// y = 2 * (x + w + 1). Segment 'sum' adds w, the host adds 1, and segment 'twice' doubles.
struct RecoveryTest : testing::TestWithParam<bool> {
  RecoveryTest() {
    uint32_t b = device("b"), c = device("c"), d = device("d"), a = device("a");
    uint32_t h = builder.temporary("h", MemorySpace::Host, {Expr(kLanes)}),
             k = builder.temporary("k", MemorySpace::Host, {Expr(kLanes)});
    builder.copy(x, a);
    sum = builder.launch(functions.sum, {a, w, b});
    builder.copy(b, h);
    middle = builder.call(functions.addOne, {h, k});
    builder.copy(k, c);
    twice = builder.launch(functions.twice, {c, d});
    builder.copy(d, y);
    builder.plan->steps[sum].name = "sum";
    builder.plan->steps[twice].name = "twice";
  }
  uint32_t device(const std::string &name) { return builder.temporary(name, MemorySpace::Device, {Expr(kLanes)}); }

  RecoveryOptions options() {
    RecoveryOptions options;
    options.notify = [this](const RecoveryNotice &notice) { notices.add(notice); };
    options.reopenDevice = [this]() -> StatusOr<std::shared_ptr<Device>> {
      if (reopens++ < failReopens)
        return Status(StatusCode::Unavailable, "no device");
      return std::shared_ptr<Device>(second);
    };
    options.firstBackoff = backoff;
    options.longestBackoff = 10s;
    return options;
  }
  void load(RecoveryOptions options) {
    auto loaded = loadRecovering(builder.plan, first, std::make_shared<LaneLibrary>(), callback, {}, nullptr, options);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
    program = std::move(*loaded);
  }
  void load() { load(options()); }
  void removeHostVersions() {
    for (Engine &engine : builder.plan->engines)
      engine.hostVersion = -1;
  }

  Status call() {
    std::fill(out.begin(), out.end(), -1.0f);
    return program->call({view(in)}, {view(out)});
  }
  /// Expects a correct result.
  void expectRight(const char *when, float weight = 10) {
    ASSERT_EQ(call().message(), "") << when;
    for (int64_t i = 0; i < kLanes; ++i)
      ASSERT_EQ(out[i], 2 * (in[i] + weight * float(i + 1) + 1)) << when;
  }
  static Constant weights(float weight) {
    auto owner = std::make_shared<std::vector<float>>();
    for (int64_t i = 0; i < kLanes; ++i)
      owner->push_back(weight * float(i + 1));
    return {owner->data(), kLanes * sizeof(float), owner};
  }

  PlanBuilder builder;
  LaneFunctions functions{builder};
  uint32_t x = builder.input("x", {Expr(kLanes)}), y = builder.output("y", {Expr(kLanes)});
  uint32_t w = builder.constant("w", MemorySpace::Device, {10, 20, 30, 40});
  uint32_t sum, middle, twice;
  std::shared_ptr<FakeDevice> first = std::make_shared<FakeDevice>(GetParam()),
                              second = std::make_shared<FakeDevice>(GetParam());
  CallbackHandler callback;
  Notices notices;
  std::atomic<int> reopens{0};
  int failReopens = 0;
  std::chrono::milliseconds backoff{200}; ///< Longer than a test that depends on it.
  std::unique_ptr<Program> program;
  std::vector<float> in = {1, 2, 3, 4}, out = std::vector<float>(kLanes);
};

} // namespace

TEST_P(RecoveryTest, AForkDuringARecoveryIsAnErrorInTheChild) {
  struct WaitingLibrary final : HostSymbolResolver {
    std::atomic<bool> waits{false}, isInside{false};
    StatusOr<HostEntry> lookup(const std::string &symbol) override {
      isInside = waits.load();
      while (waits)
        std::this_thread::yield();
      return LaneLibrary().lookup(symbol);
    }
  };
  auto library = std::make_shared<WaitingLibrary>();
  auto loaded = loadRecovering(builder.plan, first, library, callback, {}, nullptr, options());
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  program = std::move(*loaded);
  first->failRuns = 1 << 20;
  library->waits = true;
  std::thread caller([&] { expectRight("on the host"); });
  while (!library->isInside)
    std::this_thread::yield();
  EXPECT_TRUE(holdsInChild([&] {
    library->waits = false;
    program->limitTemporaries({});
    Status status = call();
    return status.code() == StatusCode::Unavailable &&
           status.message().find("load the program again") != std::string::npos;
  }));
  library->waits = false;
  caller.join();
  EXPECT_TRUE(holdsInChild([&] {
    Status status = call();
    fputs(status.isOk() ? "" : status.message().c_str(), stderr);
    return status.isOk();
  }));
}

TEST_P(RecoveryTest, ALostDeviceIsReplacedByTheHostAndThenByAnother) {
  load();
  expectRight("before");
  first->failRuns = 1 << 20;
  expectRight("as it is lost");
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].segment, "sum");
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake device is gone");
  EXPECT_EQ(notices.all()[0].action.find("all segments run on the host for now, and the device is tried again in 0."),
            0u)
      << notices.all()[0].action;
  expectRight("on the host");
  ASSERT_TRUE(notices.wait(2));
  EXPECT_TRUE(notices.all()[1].failure.isOk());
  EXPECT_EQ(notices.all()[1].action, "all segments run on device 'fake' again");
  EXPECT_EQ(second->submissions, 0);
  expectRight("on the other device");
  EXPECT_EQ(second->submissions, 2);
  EXPECT_EQ(reopens, 1);
}

TEST_P(RecoveryTest, ALostDeviceIsNotAskedAgain) {
  RecoveryOptions patient = options();
  patient.firstBackoff = 10s;
  load(patient);
  first->failRuns = 1 << 20;
  for (int i = 0; i < 5; ++i)
    expectRight("during quarantine");
  EXPECT_EQ(first->failRuns, (1 << 20) - 1) << "one failure is enough";
  EXPECT_EQ(notices.all().size(), 1u);
}

TEST_P(RecoveryTest, OneSegmentFailsAndTheOtherStays) {
  load();
  expectRight("before");
  first->failRunsOf = "engine_double";
  expectRight("as it fails");
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].segment, "twice");
  EXPECT_EQ(notices.all()[0].action.find("it runs on the host for now"), 0u) << notices.all()[0].action;
  int submissions = first->submissions;
  first->failRunsOf = "";
  ASSERT_TRUE(notices.wait(2));
  EXPECT_EQ(notices.all()[1].action, "all segments run on device 'fake' again");
  expectRight("again");
  EXPECT_EQ(first->submissions, submissions + 2);
  EXPECT_EQ(first->loads, 2) << "pipelines are kept";
  EXPECT_EQ(reopens, 0);
}

TEST_P(RecoveryTest, ASegmentThatFailsAgainWaitsLonger) {
  backoff = 30ms;
  load();
  first->failRunsOf = "engine_double";
  std::vector<std::chrono::steady_clock::duration> waits;
  for (size_t round = 0; round < 4; ++round) {
    auto begin = std::chrono::steady_clock::now();
    expectRight("each time");
    ASSERT_TRUE(notices.wait(2 * round + 2));
    waits.push_back(std::chrono::steady_clock::now() - begin);
  }
  EXPECT_GE(waits[1], 2 * backoff);
  EXPECT_GE(waits[3], 8 * backoff);
}

TEST_P(RecoveryTest, RecordingFails) {
  first->failRecordsOf = "engine_add";
  load();
  expectRight("at the first call");
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake descriptors are gone");
  EXPECT_EQ(first->submissions, 1) << "the other segment stays on the device";
}

TEST_P(RecoveryTest, ADeviceThatNeverComesBackIsReplacedToo) {
  load();
  expectRight("before");
  first->failWaits = 1 << 20;
  expectRight("as it is lost");
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake device never came back");
  EXPECT_EQ(notices.all()[0].segment, "sum");
  expectRight("on the host");
}

TEST_P(RecoveryTest, PipelinesFailInTheBackground) {
  first->failPipelinesOf = "engine_add";
  load();
  EXPECT_TRUE(notices.all().empty()) << "no call has waited for the pipelines yet";
  expectRight("at the first call");
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake pipeline failed later");
  EXPECT_EQ(first->submissions, 1) << "the other segment stays on the device";
  int loads = first->loads;
  first->failPipelinesOf = "";
  ASSERT_TRUE(notices.wait(2));
  EXPECT_EQ(notices.all()[1].action, "all segments run on device 'fake' again");
  EXPECT_EQ(first->loads, loads + 1) << "only the failed engine is loaded again";
  expectRight("on the device");
  EXPECT_EQ(first->submissions, 3);
}

TEST_P(RecoveryTest, PipelinesThatFailAgainKeepTheSegmentOnTheHost) {
  backoff = 10ms;
  first->failPipelinesOf = "engine_add";
  load();
  expectRight("at the first call");
  while (first->loads < 4)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(notices.all().size(), 1u) << "it was not used in between";
  expectRight("on the host");
}

TEST_P(RecoveryTest, OfSegmentsSubmittedTogetherTheOneWithoutPipelinesIsMoved) {
  PlanBuilder chain;
  LaneFunctions lanes(chain);
  uint32_t from = chain.input("x", {Expr(kLanes)}), to = chain.output("y", {Expr(kLanes)});
  uint32_t weight = chain.constant("w", MemorySpace::Device, {10, 20, 30, 40});
  uint32_t a = chain.temporary("a", MemorySpace::Device, {Expr(kLanes)}),
           b = chain.temporary("b", MemorySpace::Device, {Expr(kLanes)}),
           c = chain.temporary("c", MemorySpace::Device, {Expr(kLanes)});
  chain.copy(from, a);
  chain.plan->steps[chain.launch(lanes.sum, {a, weight, b})].name = "sum";
  chain.plan->steps[chain.launch(lanes.twice, {b, c})].name = "twice";
  chain.copy(c, to);
  builder.plan = chain.plan;
  first->failPipelinesOf = "engine_double";
  load();
  ASSERT_EQ(call().message(), "");
  for (int64_t i = 0; i < kLanes; ++i)
    EXPECT_EQ(out[i], 2 * (in[i] + 10 * float(i + 1)));
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'twice': fake pipeline failed later");
  EXPECT_EQ(notices.all()[0].action.find("it runs on the host for now"), 0u) << notices.all()[0].action;
}

TEST_P(RecoveryTest, WaitingRecoversAsACallDoes) {
  first->failPipelinesOf = "engine_add";
  load();
  EXPECT_EQ(program->wait().message(), "");
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake pipeline failed later");
  expectRight("from then on");
}

TEST_P(RecoveryTest, WaitingSaysWhatTheHostCannotDo) {
  removeHostVersions();
  first->failPipelinesOf = "engine_add";
  load();
  EXPECT_EQ(program->wait().message(), "segment 'sum': fake pipeline failed later; segment 'sum' has no host version "
                                       "(has it been compiled without recovery?)");
}

TEST_P(RecoveryTest, LoadingFails) {
  first->failLoadsOf = "engine_add";
  load();
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].failure.message(), "segment 'sum': fake pipeline failed");
  expectRight("from the start");
  EXPECT_EQ(first->submissions, 1);
}

TEST_P(RecoveryTest, MemoryRunsOut) {
  load();
  first->failAllocations = 2; // the second attempt has freed the memory of idle calls
  expectRight("without memory");
  ASSERT_EQ(notices.all().size(), 1u);
  EXPECT_EQ(notices.all()[0].segment, "") << "the failure belongs to no segment";
  ASSERT_TRUE(notices.wait(2));
  expectRight("with memory again");
  EXPECT_EQ(first->submissions, 2);
}

TEST_P(RecoveryTest, ADeviceThatWillNotOpenIsTriedAgain) {
  failReopens = 3;
  backoff = 20ms;
  load();
  first->failRuns = 1 << 20;
  expectRight("on the host");
  ASSERT_TRUE(notices.wait(2));
  EXPECT_EQ(reopens, 4);
  expectRight("on the device");
  EXPECT_EQ(second->submissions, 2);
}

TEST_P(RecoveryTest, ADeviceThatFailsOnTheWayBackIsOpenedAgainLater) {
  backoff = 20ms;
  second->failUploads = 3; // uploads of the constant
  load();
  first->failRuns = 1 << 20;
  auto begin = std::chrono::steady_clock::now();
  expectRight("on the host");
  ASSERT_TRUE(notices.wait(2));
  EXPECT_EQ(reopens, 4);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, (1 + 2 + 4 + 8) * backoff);
  expectRight("on the device");
  EXPECT_EQ(second->submissions, 2);
}

TEST_P(RecoveryTest, WithoutSegmentsTheErrorIsTheDevices) {
  if (GetParam())
    GTEST_SKIP() << "nothing is copied";
  PlanBuilder copies;
  uint32_t from = copies.input("x", {Expr(kLanes)}), to = copies.output("y", {Expr(kLanes)});
  uint32_t a = copies.temporary("a", MemorySpace::Device, {Expr(kLanes)});
  copies.copy(from, a);
  copies.copy(a, to);
  builder.plan = copies.plan;
  load();
  first->failUploads = 1;
  EXPECT_EQ(call().message(), "segment 'step0': fake staging is full; no segment could run on the host instead");
  EXPECT_EQ(call().message(), "");
  EXPECT_EQ(out, in);
}

TEST_P(RecoveryTest, WithoutAHostVersionTheErrorIsTheDevices) {
  builder.plan->engines[functions.twice].hostVersion = -1;
  load();
  first->failRunsOf = "engine_double";
  Status status = call();
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message(), "segment 'twice': fake run failed; segment 'twice' has no host version (has it been "
                              "compiled without recovery?)");
  first->failRunsOf = "";
  expectRight("as it failed for a while");
  EXPECT_TRUE(notices.all().empty());
  first->failRuns = 1 << 20;
  EXPECT_EQ(call().code(), StatusCode::DeviceLost);
  ASSERT_TRUE(notices.wait(1)) << "a lost device is opened again nevertheless";
  expectRight("on the other device");
}

TEST_P(RecoveryTest, SwitchedOffTheErrorIsTheDevices) {
  RecoveryOptions off = options();
  off.enabled = false;
  load(off);
  first->failRuns = 1;
  EXPECT_EQ(call().message(), "segment 'sum': fake device is gone");
  first->failLoadsOf = "engine_add";
  EXPECT_EQ(
      loadRecovering(builder.plan, first, std::make_shared<LaneLibrary>(), {}, {}, nullptr, off).status().message(),
      "segment 'sum': fake pipeline failed");
}

TEST_P(RecoveryTest, WhatMayHaveHadEffectsIsNotRunAgain) {
  builder.plan->callbacks.push_back({"log", 1, {}});
  builder.plan->steps[middle].kind = StepKind::Callback;
  builder.plan->steps[middle].callee = 0;
  int callbacks = 0;
  callback = [&](uint32_t, const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs,
                 const std::vector<int64_t> &) {
    ++callbacks;
    for (int64_t i = 0; i < kLanes; ++i)
      static_cast<float *>(outputs[0].data)[i] = static_cast<float *>(inputs[0].data)[i] + 1;
    return Status::ok();
  };
  first->failPipelinesOf = "engine_double";
  load();
  expectRight("what can be known before is");
  EXPECT_EQ(callbacks, 1);
  first->failPipelinesOf = "";
  ASSERT_TRUE(notices.wait(2));
  first->failRunsOf = "engine_double";
  EXPECT_EQ(call().message(), "segment 'twice': fake run failed; the call isn't run again on the host, as callback "
                              "'log' had run and may have had effects");
  EXPECT_EQ(callbacks, 2);
  expectRight("the next call");
  EXPECT_EQ(callbacks, 3);
  first->failRunsOf = "engine_add";
  ASSERT_TRUE(notices.wait(4));
  expectRight("a failure before the callback");
  EXPECT_EQ(callbacks, 4);
}

TEST_P(RecoveryTest, WhatIsNotTheDevicesIsNotRunAgain) {
  builder.plan->callbacks.push_back({"log", 1, {}});
  builder.plan->steps[middle].kind = StepKind::Callback;
  builder.plan->steps[middle].callee = 0;
  StatusCode code = StatusCode::Internal;
  callback = [&](uint32_t, const std::vector<TensorView> &, const std::vector<TensorView> &,
                 const std::vector<int64_t> &) { return Status(code, "no"); };
  load();
  for (StatusCode kind : {StatusCode::Internal, StatusCode::ResourceExhausted, StatusCode::DeviceLost}) {
    code = kind;
    EXPECT_EQ(call().message(), "callback 'log': no");
  }
  std::vector<float> wrong(kLanes + 1);
  EXPECT_EQ(program->call({view(wrong)}, {view(out)}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(program->call({view(in)}, {view(in)}).code(), StatusCode::InvalidArgument) << "results overlap inputs";
  EXPECT_TRUE(notices.all().empty());
}

TEST_P(RecoveryTest, NewConstantsReachEveryVersion) {
  load();
  ASSERT_EQ(program->replaceConstants({{0, weights(5)}}).message(), "");
  expectRight("on the device", 5);
  first->failRuns = 1 << 20;
  expectRight("on the host", 5);
  ASSERT_EQ(program->replaceConstants({{0, weights(7)}}).message(), "");
  expectRight("on the host still", 7);
  ASSERT_TRUE(notices.wait(2));
  expectRight("on the other device", 7);
  EXPECT_GE(second->submissions, 2);
  second->failRunsOf = "engine_double";
  ASSERT_EQ(program->replaceConstants({{0, weights(3)}}).message(), "");
  expectRight("with one segment moved", 3);
  ASSERT_EQ(program->replaceConstants({{0, weights(2)}}).message(), "");
  expectRight("with one segment moved still", 2);
  EXPECT_EQ(program->replaceConstants({{1, weights(2)}}).message(), "constant 1 is out of range of 1");
}

TEST_P(RecoveryTest, NewConstantsThatTheDeviceRefusesGoToTheHost) {
  load();
  expectRight("before");
  first->failUploads = 1;
  ASSERT_EQ(program->replaceConstants({{0, weights(5)}}).message(), "");
  ASSERT_EQ(notices.all().size(), 1u);
  expectRight("on the host", 5);
  ASSERT_TRUE(notices.wait(2));
  expectRight("on the device", 5);
}

TEST_P(RecoveryTest, NewConstantsReachADeviceThatWasNotUsedMeanwhile) {
  load();
  first->failAllocations = 2;
  expectRight("without memory");
  ASSERT_EQ(program->replaceConstants({{0, weights(5)}}).message(), "");
  expectRight("on the host", 5);
  ASSERT_TRUE(notices.wait(2));
  expectRight("on the device", 5);
  EXPECT_EQ(first->submissions, 2);
}

TEST_P(RecoveryTest, ProfilesAndSizesAreThoseOfTheVersionThatRuns) {
  load();
  EXPECT_GT(program->memory({{kLanes}})->deviceTemporaries.peak, 0u);
  first->failRuns = 1 << 20;
  auto profile = program->profile({view(in)}, {view(out)});
  ASSERT_TRUE(profile.isOk()) << profile.status().message();
  EXPECT_EQ((*profile)[sum].name, "sum");
  EXPECT_EQ((*profile)[sum].kind, StepKind::CallHost);
  EXPECT_EQ(out[0], 24);
  EXPECT_EQ(program->memory({{kLanes}})->deviceTemporaries.peak, 0u);
  EXPECT_EQ(program->outputDims({{kLanes}})->front(), std::vector<int64_t>{kLanes});
  EXPECT_EQ(&program->plan(), builder.plan.get());
}

TEST_P(RecoveryTest, ACallerMayStopALoopOnTheHostToo) {
  PlanBuilder loops;
  LaneFunctions functions(loops);
  uint32_t x = loops.input("x", {Expr(kLanes)}), y = loops.output("y", {Expr(kLanes)});
  uint32_t a = loops.temporary("a", MemorySpace::Device, {Expr(kLanes)}),
           b = loops.temporary("b", MemorySpace::Device, {Expr(kLanes)}), k = loops.number("k", ElementType::I64);
  loops.copy(x, a);
  loops.control(StepKind::For, {k, loops.constant(0), loops.constant(INT64_MAX), loops.constant(1)},
                {[&] { loops.launch(functions.twice, {a, b}); }});
  loops.copy(b, y);
  builder.plan = loops.plan;
  load();
  program->stopWhen([] { return true; });
  first->failRuns = 1;
  EXPECT_EQ(call().code(), StatusCode::Stopped);
  EXPECT_EQ(notices.all().size(), 1u);
}

TEST_P(RecoveryTest, CallsInFlightAllEndWell) {
  backoff = 5ms;
  load();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, calls{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; !stop; ++i, ++calls) {
        std::vector<float> x(kLanes, float(thread * 100 + i % 50)), y(kLanes);
        Status status = program->call({view(x)}, {view(y)});
        for (int64_t lane = 0; lane < kLanes; ++lane) // weights are w * 10 with w from 1 to 4
          wrong += !status.isOk() || std::fmod(y[lane] / 2 - x[lane] - 1, float(lane + 1)) != 0;
      }
    });
  for (int round = 0; round < 30; ++round) {
    (round % 2 ? first : second)->failRuns = round % 3 ? 1 : 20;
    first->failAllocations = round % 5 == 0;
    EXPECT_EQ(program->replaceConstants({{0, weights(float(round % 4 + 1))}}).message(), "");
    std::this_thread::sleep_for(5ms);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(calls, 100);
}

INSTANTIATE_TEST_SUITE_P(UnifiedMemory, RecoveryTest, testing::Bool());
