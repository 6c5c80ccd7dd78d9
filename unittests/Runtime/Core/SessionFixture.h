// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SessionFixture: a program with a state, over host functions and fake devices.

#ifndef INLAY_UNITTESTS_RUNTIME_CORE_SESSIONFIXTURE_H
#define INLAY_UNITTESTS_RUNTIME_CORE_SESSIONFIXTURE_H

#include "../FakeDevice.h"
#include "../RandomPlan.h"

#include "inlay/Runtime/Core/Recovery.h"

#include <gtest/gtest.h>

namespace inlay::rt::test {

using Lanes = std::vector<float>;
inline const std::vector<Expr> four = {Expr(kLanes)};

/// A program that adds its input to a state and returns the state. The parameter says if memory is unified.
struct SessionFixture : testing::TestWithParam<bool> {
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
  /// Makes a plan that returns its input of the last call, of any length.
  void makeLastPlan() {
    Expr n = Expr::dim(0, 0);
    builder = {};
    x = builder.input("in", {n}), y = builder.output("result", {n});
    total = builder.state("last", MemorySpace::Device, {n});
    builder.copy(total, y);
    builder.copy(x, total);
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
    options.longestBackoff = std::chrono::seconds(10);
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
  std::string call(Session *session, float value) { return call(session, Lanes(kLanes, value)); }
  std::string call(Session *session, Lanes in) {
    out.assign(in.size(), -1);
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

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CORE_SESSIONFIXTURE_H
