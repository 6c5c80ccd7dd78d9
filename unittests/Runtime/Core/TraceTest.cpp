// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../FakeDevice.h"
#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/Trace.h"

#include <gtest/gtest.h>

#include <thread>

using namespace inlay::rt;
using namespace inlay::rt::test;

TEST(Trace, SpansNestAndTakeTheSegmentOfTheOuterOne) {
  Trace trace;
  {
    TraceSpan call(&trace, "call", "f");
    std::vector<std::string> calls = {"a", "b"};
    TraceSpan step("host", "f_0", 3, &calls);
    EXPECT_EQ(TraceSpan::current(), &step);
    TraceSpan kernel("loops", "relu");
  }
  EXPECT_EQ(TraceSpan::current(), nullptr);
  ASSERT_EQ(trace.events().size(), 3u);
  const TraceEvent &kernel = trace.events()[0], &step = trace.events()[1], &call = trace.events()[2];
  EXPECT_EQ(kernel.segment, 3);
  EXPECT_EQ(call.segment, -1);
  EXPECT_EQ(step.calls, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(call.begin <= step.begin && step.begin <= kernel.begin);
  EXPECT_TRUE(kernel.end <= step.end && step.end <= call.end);
}

TEST(Trace, SpansOutsideOfACallRecordNothing) {
  TraceSpan alone("wait", "wait");
  EXPECT_EQ(TraceSpan::current(), nullptr);
  TraceSpan off(nullptr, "call", "f");
  EXPECT_EQ(TraceSpan::current(), nullptr);
}

TEST(Trace, ThreadsHaveTracksOfTheirOwn) {
  Trace trace;
  TraceSpan call(&trace, "call", "f");
  std::thread([&] {
    EXPECT_EQ(TraceSpan::current(), nullptr);
    call.addPart(5, 7);
  }).join();
  ASSERT_EQ(trace.events().size(), 1u);
  EXPECT_EQ(trace.events()[0].track, 1u);
  EXPECT_EQ(trace.tracks(), (std::vector<std::string>{"calling thread", "pool thread 1"}));
}

TEST(Trace, JsonIsSortedAndEscaped) {
  Trace trace;
  trace.track("gpu \"0\"");
  trace.note("one\nnote");
  trace.note("one\nnote");
  trace.add({"dispatch", "inner", 0, 2500, 3000});
  trace.add({"engine", "a\\b\x01\xff\xc3\xa4\xed\xa0\x80", 0, 1000, 4002, 1, {"x", "y\""}});
  EXPECT_EQ(toJson(trace, "f"),
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"inlay\",\"notes\":[\"one\\u000anote\"]},\n"
            "\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"f\"}},\n"
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"gpu \\\"0\\\"\"}},\n"
            "{\"ph\":\"X\",\"name\":\"a\\\\b\\u0001\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\","
            "\"cat\":\"engine\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"dur\":3.002,"
            "\"args\":{\"segment\":1,\"calls\":[\"x\",\"y\\\"\"]}},\n"
            "{\"ph\":\"X\",\"name\":\"inner\",\"cat\":\"dispatch\",\"pid\":1,\"tid\":0,\"ts\":1.500,\"dur\":0.500,"
            "\"args\":{}}\n]}\n");
}

TEST(Trace, JsonHasOnlyCharactersOfUnicode) {
  auto print = [](const std::string &text) {
    Trace trace;
    trace.note(text);
    std::string json = toJson(trace, "");
    size_t begin = json.find("[\"") + 2;
    return json.substr(begin, json.find("\"]") - begin);
  };
  for (const char *text :
       {"\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\u1000", "\U00010000", "\U00040000", "\U0010ffff"})
    EXPECT_EQ(print(text), text);
  // Overlong forms, surrogates, and what lies beyond.
  for (const char *text :
       {"\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    std::string replaced;
    for (size_t i = 0; i < std::string(text).size(); ++i)
      replaced += "\xef\xbf\xbd";
    EXPECT_EQ(print(text), replaced);
  }
}

TEST(Trace, AnEmptyOneIsStillAFile) { EXPECT_NE(toJson(Trace(), "").find("\"traceEvents\""), std::string::npos); }

TEST(Trace, ManyEventsAreCounted) {
  Trace trace;
  for (size_t i = 0; i < Trace::kMaxEvents + 2; ++i)
    trace.add({"loops", "", 0, 0, 0});
  EXPECT_EQ(trace.events().size(), Trace::kMaxEvents);
  EXPECT_EQ(trace.dropped(), 2u);
  EXPECT_NE(toJson(trace, "f").find("2 more events were not kept"), std::string::npos);
}

namespace {
/// Negates 4 floats with a kernel, called back as by generated code.
struct Library final : HostSymbolResolver {
  StatusOr<HostEntry> lookup(const std::string &) override {
    return HostEntry([](void *const *buffers) {
      auto *context = static_cast<InlayHostContext *>(buffers[2]);
      for (int64_t kernel : {1, 7}) // 7 is unknown and runs too
        context->run(
            context, kernel,
            [](void *const *buffers, int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i)
                static_cast<float *>(buffers[1])[i] = -static_cast<float *>(buffers[0])[i];
            },
            buffers, 4, 1);
    });
  }
};
} // namespace

TEST(Trace, AProfiledCallIsRecorded) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t x = builder.input("x", four), y = builder.output("y", four);
  uint32_t dx = builder.temporary("dx", MemorySpace::Device, four),
           dy = builder.temporary("dy", MemorySpace::Device, four);
  uint32_t hy = builder.temporary("hy", MemorySpace::Host, four);
  uint32_t twice = builder.engine("double", 2), negate = builder.hostFunction("negate", {Access::Read, Access::Write});
  builder.plan->hostCode.functions[0].kernels.resize(2);
  builder.plan->hostCode.functions[0].kernels[1].name = "negate";
  builder.plan->hostCode.functions[0].kernels[1].calls = {"net.negate"};
  builder.copy(x, dx);
  builder.launch(twice, {dx, dy}, {0});
  builder.copy(dy, hy, {1});
  builder.call(negate, {hy, y}, {2});
  auto program = Program::load(builder.plan, std::make_shared<FakeDevice>(false), std::make_shared<Library>());
  ASSERT_TRUE(program.isOk()) << program.status().message();
  std::vector<float> in = {1, 2, 3, 4}, out(4);
  Trace trace;
  auto steps = (*program)->profile({view(in)}, {view(out)}, &trace);
  ASSERT_TRUE(steps.isOk()) << steps.status().message();
  EXPECT_EQ(out, (std::vector<float>{-2, -4, -6, -8}));
  ASSERT_EQ((*steps)[3].kernels.size(), 1u);
  EXPECT_EQ((*steps)[3].kernels[0].number, 1u);
  EXPECT_EQ((*steps)[3].kernels[0].calls, (std::vector<std::string>{"net.negate"}));
  std::vector<std::string> categories;
  for (const TraceEvent &event : trace.events())
    categories.push_back(event.category);
  EXPECT_EQ(categories,
            (std::vector<std::string>{"copy", "submit", "wait", "engine", "copy", "loops", "host", "call"}));
  EXPECT_EQ(trace.notes(), (std::vector<std::string>{"kernels of 'fake' aren't timed"}));
  EXPECT_TRUE((*program)->profile({view(in)}, {view(out)}).isOk()) << "without a trace";
}
