// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../FakeDevice.h"
#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/Trace.h"

#include <gtest/gtest.h>

#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// Resolves host functions of tests by name: "negate" over 4 floats.
struct Library final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &symbol) override {
    if (symbol != "negate")
      return Status(StatusCode::NotFound, "no symbol '" + symbol + "'");
    return HostEntry([](void *const *buffers) {
      for (int i = 0; i < 4; ++i)
        static_cast<float *>(buffers[1])[i] = -static_cast<float *>(buffers[0])[i];
    });
  }
};

/// y = double(negate(add(x, w))) with x and y of 4 floats.
struct ExecutorTest : testing::TestWithParam<bool> {
  ExecutorTest() {
    std::vector<Expr> four = {Expr(4)};
    uint32_t x = builder.input("x", four), y = builder.output("y", four);
    uint32_t w = builder.constant("w", MemorySpace::Device, {10, 20, 30, 40});
    uint32_t dx = builder.temporary("dx", MemorySpace::Device, four),
             ds = builder.temporary("ds", MemorySpace::Device, four);
    uint32_t hs = builder.temporary("hs", MemorySpace::Host, four),
             hn = builder.temporary("hn", MemorySpace::Host, four);
    uint32_t dn = builder.temporary("dn", MemorySpace::Device, four),
             dy = builder.temporary("dy", MemorySpace::Device, four);
    uint32_t add = builder.engine("add", 3), twice = builder.engine("double", 2);
    uint32_t negate = builder.hostFunction("negate", {Access::Read, Access::Write});
    builder.copy(x, dx);
    builder.launch(add, {dx, w, ds}, {0});
    builder.copy(ds, hs, {1});
    builder.call(negate, {hs, hn}, {2});
    builder.copy(hn, dn, {3});
    builder.launch(twice, {dn, dy}, {4});
    builder.copy(dy, y, {5});
  }

  StatusOr<std::unique_ptr<Program>> load() { return Program::load(builder.plan, device, std::make_shared<Library>()); }
  std::string loadError() { return load().status().message(); }

  PlanBuilder builder;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>(GetParam());
};

} // namespace

static const std::vector<float> expectedResult = {-22, -44, -66, -88};

TEST_P(ExecutorTest, ComputesAndCopiesOnlyWhereMemoryIsApart) {
  auto program = load();
  ASSERT_TRUE(program.isOk()) << program.status().message();
  int uploadsAtLoad = device->uploads;
  EXPECT_EQ(uploadsAtLoad, 1) << "the constant, once";
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, expectedResult);
  EXPECT_EQ(device->submissions, 2);
  EXPECT_EQ(device->uploads - uploadsAtLoad, GetParam() ? 0 : 2);
  EXPECT_EQ(device->downloads, GetParam() ? 0 : 2);
}

TEST_P(ExecutorTest, LaterCallsRecordNothing) {
  auto program = load();
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  for (int i = 0; i < 5; ++i) {
    std::fill(y.begin(), y.end(), 0.0f);
    ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
    EXPECT_EQ(y, expectedResult);
  }
  EXPECT_EQ(device->records, 2);
  EXPECT_EQ(device->loads, 2);
}

TEST_P(ExecutorTest, AnotherProcessWritesNoMemoryOfTheDevice) {
  auto program = load();
  std::vector<float> x = {1, 2, 3, 4}, other = {5, 6, 7, 8}, y(4);
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  std::vector<float> contents = device->contents();
  device->process = {StatusCode::InvalidArgument, "another process"};
  EXPECT_EQ((*program)->call({view(other)}, {view(y)}).message(), "another process");
  EXPECT_EQ(y, expectedResult);
  EXPECT_EQ(device->contents(), contents);
}

TEST_P(ExecutorTest, ThreadsHaveTemporariesOfTheirOwn) {
  auto program = load();
  ASSERT_TRUE(program.isOk());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> x(4, float(t)), y(4);
      for (int i = 0; i < 200; ++i) {
        bool ok = (*program)->call({view(x)}, {view(y)}).isOk();
        if (!ok || y[0] != -2 * float(10 + t) || y[3] != -2 * float(40 + t))
          ++wrong;
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ExecutorTest, ProfileGivesEachStepATime) {
  auto program = load();
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  auto profile = (*program)->profile({view(x)}, {view(y)});
  ASSERT_TRUE(profile.isOk());
  EXPECT_EQ(y, expectedResult);
  ASSERT_EQ(profile->size(), 7u);
  EXPECT_EQ((*profile)[3].name, "step3");
  EXPECT_EQ((*profile)[3].kind, StepKind::CallHost);
}

TEST_P(ExecutorTest, AFailedRunNamesTheSegmentAndTheNextCallWorks) {
  auto program = load();
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  device->failRuns = 1;
  Status status = (*program)->call({view(x)}, {view(y)});
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_EQ(status.message(), "segment 'step1': fake device is gone");
  device->failRuns = 1;
  EXPECT_EQ((*program)->profile({view(x)}, {view(y)}).status().message(), "segment 'step1': fake device is gone");
  EXPECT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, expectedResult);
}

TEST_P(ExecutorTest, ConstantsAreReplaced) {
  auto program = load();
  ASSERT_TRUE(program.isOk());
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  auto other = std::make_shared<std::vector<float>>(std::vector<float>{0, 0, 0, 1});
  ASSERT_TRUE((*program)->replaceConstants({{0, {other->data(), 16, other}}}).isOk());
  EXPECT_EQ(other.use_count(), 2) << "the program keeps its bytes";
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, (std::vector<float>{-2, -4, -6, -10}));
  EXPECT_EQ((*program)->replaceConstants({{0, {other->data(), 12, other}}}).message(),
            "constant 0 (''): expected 16 bytes, but got 12");
  EXPECT_FALSE((*program)->replaceConstants({{0, {nullptr, 16, other}}}).isOk());
  EXPECT_EQ((*program)->replaceConstants({{1, {other->data(), 16, other}}}).message(),
            "constant 1 is out of range of 1");
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, (std::vector<float>{-2, -4, -6, -10}));
}

TEST_P(ExecutorTest, TheDeviceHasConstantsInTheirOrder) {
  builder.plan->buffers[2].type.dims = {Expr(2), Expr(2)};
  builder.plan->constants[0].dims = {2, 2};
  builder.plan->constants[0].order = {1, 0};
  auto program = load();
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, (std::vector<float>{-22, -64, -46, -88}));
  auto other = std::make_shared<std::vector<float>>(std::vector<float>{0, 1, 0, 0});
  ASSERT_TRUE((*program)->replaceConstants({{0, {other->data(), 16, other}}}).isOk());
  ASSERT_TRUE((*program)->call({view(x)}, {view(y)}).isOk());
  EXPECT_EQ(y, (std::vector<float>{-2, -4, -8, -8}));
}

TEST_P(ExecutorTest, IdleInstancesGiveWayWhenMemoryIsShort) {
  auto program = load();
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  device->failAllocations = 1;
  EXPECT_TRUE((*program)->call({view(x)}, {view(y)}).isOk()) << "the second attempt has memory";
  device->failAllocations = 0;
  EXPECT_EQ(y, expectedResult);
}

TEST_P(ExecutorTest, LoadNamesWhatIsMissing) {
  builder.plan->hostCode.functions[0].symbol = "missing";
  EXPECT_EQ(loadError(), "segment 'step3': no symbol 'missing'");
  EXPECT_EQ(Program::load(builder.plan, device, nullptr).status().message(),
            "segment 'step3': the plan calls 'missing', but there is no host library");
  EXPECT_EQ(Program::load(builder.plan, nullptr, nullptr).status().message(),
            "buffer 'w' is in device memory, but there is no device");
  EXPECT_EQ(Program::load(nullptr, device, nullptr).status().message(), "expected a plan, but got null");
}

INSTANTIATE_TEST_SUITE_P(Memory, ExecutorTest, testing::Values(true, false),
                         [](auto &info) { return info.param ? "Unified" : "Discrete"; });

TEST(Executor, ConstantsThatAreLargeEnoughAreUsedInPlace) {
  for (auto [bytes, isOrdered, imports] : {std::tuple(65536, false, 1), {65532, false, 0}, {65536, true, 0}}) {
    PlanBuilder builder;
    builder.constant("w", MemorySpace::Device, std::vector<float>(bytes / 4, 1));
    if (isOrdered) {
      builder.plan->constants[0].dims = {static_cast<uint64_t>(bytes / 4)};
      builder.plan->constants[0].order = {0};
    }
    auto device = std::make_shared<FakeDevice>(true);
    device->canImport = true;
    auto program = Program::load(builder.plan, device, nullptr);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    EXPECT_EQ(device->imports, imports) << bytes;
  }
}

TEST(Executor, TheFirstBufferMayBeATemporary) {
  PlanBuilder builder;
  uint32_t t = builder.temporary("t", MemorySpace::Device, {Expr(4)});
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, t);
  builder.copy(t, y, {0});
  auto program = Program::load(builder.plan, std::make_shared<FakeDevice>(false), nullptr);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> in = {1, 2, 3, 4}, out(4);
  ASSERT_EQ((*program)->call({view(in)}, {view(out)}).message(), "");
  EXPECT_EQ(out, in);
}

TEST(Executor, ScratchWithoutASizeNamesTheStep) {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t from = builder.temporary("from", MemorySpace::Device, {n}),
           to = builder.temporary("to", MemorySpace::Device, {n});
  builder.copy(x, from);
  builder.launch(builder.engine("double", 2), {from, to}, {0});
  builder.copy(to, y, {1});
  builder.plan->engines[0].scratch = {Expr::binary(Expr::Op::Mul, n, Expr(-1))};
  auto program = Program::load(builder.plan, std::make_shared<FakeDevice>(false), nullptr);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> in(4), out(4);
  Status status = (*program)->call({view(in)}, {view(out)});
  EXPECT_NE(status.message().find("step1"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("fake scratch has no size"), std::string::npos) << status.message();
}

TEST(Device, FillNeedsAWriterAndRoom) {
  FakeDevice device(true);
  auto buffer = device.allocate(16);
  ASSERT_TRUE(buffer.isOk());
  EXPECT_EQ(device.fill(**buffer, 16, {}).message(), "expected a writer for the buffer, but got null");
  EXPECT_EQ(device.fill(**buffer, 20, [](void *) {}).message(), "expected at most 16 bytes to write, but got 20");
}

TEST(Executor, EmptyPlanRuns) {
  auto program = Program::load(std::make_shared<Plan>(), nullptr, nullptr);
  ASSERT_TRUE(program.isOk());
  EXPECT_TRUE((*program)->call({}, {}).isOk());
  EXPECT_EQ((*program)->call({TensorView()}, {}).message(), "expected 0 inputs, but got 1");
}

TEST(Executor, TemporariesThatAreNeverAliveTogetherShareMemory) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t x = builder.input("x", four), y = builder.output("y", four);
  uint32_t last = builder.temporary("t", MemorySpace::Device, four), twice = builder.engine("double", 2);
  builder.copy(x, last);
  for (int i = 0; i < 6; ++i) {
    uint32_t next = builder.temporary("t", MemorySpace::Device, four);
    builder.launch(twice, {last, next}, {uint32_t(i)});
    last = next;
  }
  builder.copy(last, y, {6});
  auto device = std::make_shared<FakeDevice>(false);
  auto program = Program::load(builder.plan, device, nullptr);
  std::vector<float> in = {1, 2, 3, 4}, out(4);
  ASSERT_TRUE((*program)->call({view(in)}, {view(out)}).isOk());
  EXPECT_EQ(out, (std::vector<float>{64, 128, 192, 256}));
  EXPECT_EQ(device->allocatedBytes, 32u) << "seven temporaries of 16 bytes, two of them live at the same time";
}

/// Runs u = double(x) on the device and v = negate(x) on the host.
TEST(Executor, ATraceShowsThatTheHostWorksWhileTheDeviceDoes) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t x = builder.input("x", four), u = builder.output("u", four), v = builder.output("v", four);
  uint32_t a = builder.temporary("a", MemorySpace::Device, four), b = builder.temporary("b", MemorySpace::Device, four);
  uint32_t twice = builder.engine("double", 2), negate = builder.hostFunction("negate", {Access::Read, Access::Write});
  builder.copy(x, a);
  builder.launch(twice, {a, b});
  uint32_t beside = builder.call(negate, {x, v});
  builder.copy(b, u);
  builder.plan->steps[beside].name = "beside";
  for (bool unified : {false, true}) {
    auto program = Program::load(builder.plan, std::make_shared<FakeDevice>(unified), std::make_shared<Library>());
    ASSERT_TRUE(program.isOk()) << program.status().message();
    std::vector<float> in = {1, 2, 3, 4}, doubled(4), negated(4);
    Trace trace;
    {
      TraceSpan span(&trace, "call", "call");
      ASSERT_EQ((*program)->call({view(in)}, {view(doubled), view(negated)}).message(), "");
    }
    EXPECT_EQ(doubled, (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(negated, (std::vector<float>{-1, -2, -3, -4}));
    auto find = [&](const std::string &category) {
      TraceEvent found;
      for (const TraceEvent &event : trace.events())
        if (event.category == category)
          found = event;
      EXPECT_NE(found.end, 0) << category;
      return found;
    };
    EXPECT_EQ(find("host").name, "beside");
    EXPECT_LE(find("submit").end, find("host").begin);
    EXPECT_LE(find("host").end, find("wait").begin);
  }
}

TEST(Executor, AFailureOfTheHostWaitsForTheDevice) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t x = builder.input("x", four), a = builder.temporary("a", MemorySpace::Device, four),
           b = builder.temporary("b", MemorySpace::Device, four);
  builder.plan->callbacks.push_back({"breaks", 1});
  builder.copy(x, a);
  builder.launch(builder.engine("double", 2), {a, b});
  builder.step(StepKind::Callback, 0, {x});
  auto device = std::make_shared<FakeDevice>(true);
  auto breaks = [&](uint32_t, const std::vector<TensorView> &, const std::vector<TensorView> &,
                    const std::vector<int64_t> &) {
    EXPECT_EQ(device->inFlight(), 1u);
    return Status(StatusCode::InvalidArgument, "broken");
  };
  auto program = Program::load(builder.plan, device, nullptr, breaks);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> in(4);
  EXPECT_EQ((*program)->call({view(in)}, {}).message(), "callback 'breaks': broken");
  EXPECT_EQ(device->inFlight(), 0u);
}

TEST(Executor, AFailureOfTheHostWaitsForAllSubmissionsWithoutMemory) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t from = builder.input("x", four), engine = builder.engine("double", 2);
  builder.plan->callbacks.push_back({"breaks", 1});
  for (int i = 0; i < 2; ++i) { // the second launch needs what the first callback writes
    uint32_t a = builder.temporary("a", MemorySpace::Device, four),
             b = builder.temporary("b", MemorySpace::Device, four),
             to = builder.temporary("to", MemorySpace::Host, four);
    builder.copy(from, a);
    builder.launch(engine, {a, b});
    builder.step(StepKind::Callback, 0, {from, to});
    from = to;
  }
  auto device = std::make_shared<FakeDevice>(true);
  int calls = 0;
  auto breaks = [&](uint32_t, auto &, auto &, auto &) {
    EXPECT_EQ(device->inFlight(), size_t(++calls));
    device->throwWaits = 2;
    return calls == 1 ? Status::ok() : Status(StatusCode::InvalidArgument, "broken");
  };
  auto program = Program::load(builder.plan, device, nullptr, breaks);
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> in(4);
  EXPECT_EQ((*program)->call({view(in)}, {}).message(), "callback 'breaks': broken");
  EXPECT_EQ(device->inFlight(), 0u);
}

TEST(Executor, CallbacksSeeTheDimsOfThisCall) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr::dim(0, 0), Expr(2)});
  uint32_t y = builder.output("y", {Expr::binary(Expr::Op::Mul, Expr::dim(0, 0), Expr(2))});
  builder.plan->callbacks.push_back({"aten::flatten", 1, {Expr(-1), Expr::dim(0, 1)}});
  builder.step(StepKind::Callback, 0, {x, y});
  auto program =
      Program::load(builder.plan, nullptr, nullptr, [](uint32_t number, auto &inputs, auto &outputs, auto &sizes) {
        EXPECT_EQ(number, 0u);
        EXPECT_EQ(sizes, (std::vector<int64_t>{-1, 2}));
        EXPECT_EQ(inputs[0].dims, (std::vector<int64_t>{3, 2}));
        EXPECT_EQ(outputs[0].dims, (std::vector<int64_t>{6}));
        std::memcpy(outputs[0].data, inputs[0].data, 24);
        return Status(StatusCode::Internal, "said no");
      });
  ASSERT_TRUE(program.isOk());
  EXPECT_EQ((*program)->outputDims({{3, 2}}).operator*()[0], (std::vector<int64_t>{6}));
  std::vector<float> in(6, 1.0f), out(6);
  Status status = (*program)->call({{in.data(), ElementType::F32, {3, 2}}}, {view(out)});
  EXPECT_EQ(status.message(), "callback 'aten::flatten': said no");
  EXPECT_EQ(in, out);
}

/// Adds the number in its payload to all elements.
class AddingRunner : public Runner {
public:
  struct AddingEngine : LoadedForeignEngine {
    explicit AddingEngine(float addend) : addend(addend) {}
    Status run(const std::vector<TensorView> &inputs, const std::vector<TensorView> &outputs) override {
      if (inputs[0].dims[0] > 4)
        return {StatusCode::ResourceExhausted, "at most four lanes"};
      for (int64_t i = 0; i < inputs[0].dims[0]; ++i)
        static_cast<float *>(outputs[0].data)[i] = static_cast<float *>(inputs[0].data)[i] + addend;
      return Status::ok();
    }
    float addend;
  };

  StatusOr<std::shared_ptr<LoadedForeignEngine>> load(const ForeignEngine &engine) override {
    ++loads;
    if (engine.payload.size() != 1)
      return Status(StatusCode::InvalidArgument, "expected a digit");
    return std::shared_ptr<LoadedForeignEngine>(std::make_shared<AddingEngine>(engine.payload[0] - '0'));
  }

  int loads = 0;
};

/// Returns the plan of y = x + 3 + 3, with one engine that runs twice.
PlanBuilder foreignPlan() {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t t = builder.temporary("t", MemorySpace::Host, {n});
  builder.plan->foreignEngines.push_back({"add_three", "adding", "3", 2, 1});
  builder.step(StepKind::RunForeign, 0, {x, t});
  builder.step(StepKind::RunForeign, 0, {t, y}, {0});
  return builder;
}

TEST(Executor, ForeignEnginesRunByTheRunnerTheyName) {
  auto runner = std::make_shared<AddingRunner>();
  auto program = Program::load(foreignPlan().plan, nullptr, nullptr, {}, {{"adding", runner}});
  ASSERT_TRUE(program.isOk()) << program.status().message();
  EXPECT_EQ(runner->loads, 1);
  std::vector<float> in = {1, 2, 3}, out(3);
  ASSERT_TRUE((*program)->call({view(in)}, {view(out)}).isOk());
  EXPECT_EQ(out, (std::vector<float>{7, 8, 9}));
  auto profile = (*program)->profile({view(in)}, {view(out)});
  ASSERT_TRUE(profile.isOk());
  EXPECT_EQ((*profile)[1].kind, StepKind::RunForeign);
  std::vector<float> five(5), result(5);
  EXPECT_EQ((*program)->call({view(five)}, {view(result)}).message(), "segment 'step0': at most four lanes");
}

TEST(Executor, ForeignEnginesThatCannotBeLoaded) {
  auto load = [](PlanBuilder builder, Runners runners) {
    return Program::load(builder.plan, nullptr, nullptr, {}, std::move(runners)).status().message();
  };
  const char *none = "segment 'step0': the plan needs the runner 'adding', but no runner has that name";
  EXPECT_EQ(load(foreignPlan(), {}), none);
  EXPECT_EQ(load(foreignPlan(), {{"adding", nullptr}}), none);
  PlanBuilder damaged = foreignPlan();
  damaged.plan->foreignEngines[0].payload = "";
  EXPECT_EQ(load(damaged, {{"adding", std::make_shared<AddingRunner>()}}),
            "segment 'step0': runner 'adding': expected a digit");
  struct GivesNone : Runner {
    StatusOr<std::shared_ptr<LoadedForeignEngine>> load(const ForeignEngine &) override {
      return std::shared_ptr<LoadedForeignEngine>();
    }
  };
  EXPECT_EQ(load(foreignPlan(), {{"adding", std::make_shared<GivesNone>()}}),
            "segment 'step0': runner 'adding' gave no engine");
}

TEST(Executor, DynamicCopiesOfUnequalSizeAreRefusedAtTheCall) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr::dim(0, 0)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  auto program = Program::load(builder.plan, nullptr, nullptr);
  std::vector<float> in(3), out(4);
  EXPECT_EQ((*program)->call({view(in)}, {view(out)}).message(),
            "segment 'step0': copies 'x' of 12 bytes to 'y' of 16 bytes");
}

namespace {

/// y = double(double(x)) for n floats, n from 0 to 64, with a separate device.
struct SizesTest : testing::TestWithParam<bool> {
  SizesTest() {
    Expr n = Expr::dim(0, 0);
    builder.plan->symbols = {{"n", 0, 64, 0, 0}};
    uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
    uint32_t a = builder.temporary("a", MemorySpace::Device, {n}), b = builder.temporary("b", MemorySpace::Device, {n});
    uint32_t c = builder.temporary("c", MemorySpace::Device, {n}), twice = builder.engine("double", 2);
    builder.copy(x, a);
    builder.launch(twice, {a, b}, {0});
    builder.launch(twice, {b, c}, {1});
    builder.copy(c, y, {2});
    program = std::move(*Program::load(builder.plan, device, nullptr));
  }
  void call(int64_t n) {
    std::vector<float> x(n, float(n + 1)), y(n);
    Status status = program->call({view(x)}, {view(y)});
    EXPECT_EQ(status.message(), "");
    EXPECT_EQ(y, std::vector<float>(n, 4 * float(n + 1)));
  }
  /// Returns how many launches calls of these sizes record.
  int records(const std::vector<int64_t> &sizes) {
    int before = device->records;
    for (int64_t n : sizes)
      call(n);
    return device->records - before;
  }

  PlanBuilder builder;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>(GetParam());
  std::unique_ptr<Program> program;
};

} // namespace

TEST_P(SizesTest, MemoryGrowsAndServesSmallerSizes) {
  for (int64_t n : {4, 2, 8, 3, 8, 1, 7, 6, 5, 4})
    call(n);
  EXPECT_EQ(device->allocatedBytes, 2 * (4 + 8) * sizeof(float)) << "two slots, before and after they grew";
}

TEST_P(SizesTest, EnginesShareScratchThatGrows) {
  builder.plan->engines[0].scratch = {Expr::binary(Expr::Op::Mul, Expr::dim(0, 0), Expr(100))};
  program = std::move(*Program::load(builder.plan, device, nullptr));
  for (int64_t n : {4, 2, 8, 3})
    call(n);
  EXPECT_EQ(device->allocatedBytes, 2 * (4 + 8) * sizeof(float) + 400 + 800) << "two launches of one engine each";
}

TEST_P(SizesTest, FewSizesStayRecorded) {
  EXPECT_EQ(records({8, 1, 2, 3}), 8);
  EXPECT_EQ(records({8, 3, 2, 1, 8}), 0);
  EXPECT_EQ(records({4}), 2);
  EXPECT_EQ(records({2, 1, 8, 4}), 0) << "3 was used last";
  EXPECT_EQ(records({3}), 2);
  EXPECT_EQ(records({9, 3}), 4) << "commands recorded over smaller memory are dropped";
}

TEST_P(SizesTest, SizesOfZeroCopyNothing) {
  call(0);
  EXPECT_EQ(device->uploads, 0);
  EXPECT_EQ(device->downloads, 0);
  call(3);
  call(0);
}

TEST_P(SizesTest, SizesBeyondTheRangeLeaveTheProgramUsable) {
  call(5);
  std::vector<float> x(65), y(65);
  EXPECT_EQ(program->call({view(x)}, {view(y)}).message(), "input 'x': dim 0 ('n') is 65, but expected 0 to 64");
  EXPECT_EQ(records({5}), 0);
}

TEST_P(SizesTest, ThreadsOfDifferentSizes) {
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < 4; ++first)
    threads.emplace_back([&, first] {
      for (int64_t i = 0; i < 100; ++i)
        call((first * 7 + i * i) % 11);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(SizesTest, ALargerSizeThatFindsNoMemoryLeavesTheOthers) {
  call(4);
  device->failAllocations = 2; // that of the idle context, and that of a new one
  std::vector<float> x(8), y(8);
  EXPECT_EQ(program->call({view(x)}, {view(y)}).code(), StatusCode::ResourceExhausted);
  call(8);
  call(4);
}

INSTANTIATE_TEST_SUITE_P(Memory, SizesTest, testing::Values(true, false),
                         [](auto &info) { return info.param ? "Unified" : "Discrete"; });

TEST(Executor, HostFunctionsGetTheirSizes) {
  struct Filler : HostSymbolResolver {
    StatusOr<HostEntry> lookup(const std::string &) override {
      return HostEntry([](void *const *buffers) { // the last pointer leads to the sizes
        auto *sizes = static_cast<const int64_t *>(buffers[2]);
        for (int64_t i = 0; i < sizes[0]; ++i)
          static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] + float(sizes[1]);
      });
    }
  };
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  uint32_t function = builder.hostFunction("fill", {Access::Read, Access::Write});
  builder.plan->hostCode.functions[function].sizes = {n, Expr::binary(Expr::Op::Mul, n, Expr(100))};
  builder.call(function, {x, y});
  auto program = Program::load(builder.plan, nullptr, std::make_shared<Filler>());
  for (int64_t size : {3, 1, 3, 0}) {
    std::vector<float> in(size, 1), out(size);
    EXPECT_EQ((*program)->call({view(in)}, {view(out)}).message(), "");
    EXPECT_EQ(out, std::vector<float>(size, float(1 + 100 * size)));
  }
  builder.plan->hostCode.functions[function].sizes.push_back(Expr::binary(Expr::Op::FloorDiv, Expr(1), n));
  std::vector<float> none;
  program = Program::load(builder.plan, nullptr, std::make_shared<Filler>());
  EXPECT_EQ((*program)->call({view(none)}, {view(none)}).message(),
            "host function 'fill': floordiv(1, 0) divides by zero");
}
