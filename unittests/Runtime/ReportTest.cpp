// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanBuilder.h"
#include "inlay/Runtime/Report/PlanText.h"
#include "inlay/Runtime/Report/Profile.h"
#include "inlay/Runtime/Report/ReportKeys.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace inlay::rt;

static const std::vector<StepProfile> kSteps = {{"copy of x", StepKind::Copy, 10, 0},
                                                {"f_0", StepKind::LaunchEngine, 200, 0},
                                                {"copy of y", StepKind::Copy, 30, 0},
                                                {"f_2", StepKind::CallHost, 4000, 2},
                                                {"other", StepKind::Callback, 50000, -1}};

TEST(Profile, SumsStepsBySegment) {
  std::vector<MeasuredTime> times = sumBySegment(kSteps);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_DOUBLE_EQ(times[0].run, 200e-9);
  EXPECT_DOUBLE_EQ(times[0].transfers, 40e-9);
  EXPECT_EQ(times[1].run, 0);
  EXPECT_DOUBLE_EQ(times[2].run, 4000e-9);
}

TEST(Profile, AddsTimesToAReport) {
  std::string report = R"({"segments": [{"target": "vulkan", "ops": ["a", "b"],
      "modelled_ns": {"compute": 1000, "launch": 500, "transfer_in": 20, "transfer_out": 3}}], "summary": {}})";
  StatusOr<std::string> added = addMeasuredTimes(report, kSteps);
  ASSERT_TRUE(added.isOk()) << added.status().message();
  EXPECT_NE(added->find("\"measured_ns\": 54240"), std::string::npos) << *added;
  StatusOr<std::string> table = formatMeasuredTimes(*added);
  ASSERT_TRUE(table.isOk());
  EXPECT_NE(table->find("vulkan        2     1.50 us      200 ns       23 ns       40 ns"), std::string::npos)
      << *table;
  EXPECT_NE(table->find("all segments: measured 54.2 us"), std::string::npos) << *table;
}

static KernelProfile kernel(uint32_t number, const char *kind, std::vector<std::string> calls, uint64_t time) {
  return {number, kind, std::move(calls), time, 1};
}

/// Returns a host function of two kernels and an engine of three dispatches, one of which did nothing.
static std::vector<StepProfile> stepsWithKernels() {
  std::vector<StepProfile> steps = {{"f_0", StepKind::CallHost, 1000, 0},
                                    {"copy of x", StepKind::Copy, 10, 1},
                                    {"f_1", StepKind::LaunchEngine, 100, 1},
                                    {"callback 0", StepKind::Callback, 5000, -1, {"net.sort"}}};
  steps[0].kernels = {kernel(0, "contraction", {"fc", "act"}, 200), kernel(1, "loops", {"softmax"}, 300)};
  steps[2].kernels = {kernel(0, "dispatch", {"softmax"}, 70), kernel(2, "dispatch", {"fc", "act"}, 60)};
  return steps;
}

TEST(Profile, SumsKernelsByOp) {
  std::vector<std::pair<std::string, int>> rows;
  for (const OpTime &op : sumByOp(stepsWithKernels()))
    rows.emplace_back(op.ops.back() + " " + std::to_string(op.runs), static_cast<int>(op.seconds * 1e9 + 0.5));
  EXPECT_EQ(
      rows,
      (std::vector<std::pair<std::string, int>>{
          {"net.sort 1", 5000}, {"(between kernels) 1", 500}, {"softmax 2", 370}, {"act 2", 260}, {"(copies) 1", 10}}))
      << "no time is left between kernels that take longer than their step";
}

TEST(Profile, AddsTimesToTheKernelsThatAReportHas) {
  StatusOr<std::string> added = addMeasuredTimes(
      R"({"segments": [{"kernels": [{"kind": "contraction", "post_ops": ["relu"]}, {"kind": "loops"}]},
                       {"kernels": [{"kind": "dispatch", "ops": ["a"]}, {"kind": "dispatch", "ops": ["b"]}]}],
          "summary": {}})",
      stepsWithKernels());
  ASSERT_TRUE(added.isOk()) << added.status().message();
  nlohmann::json segments = nlohmann::json::parse(*added)["segments"], host = segments[0]["kernels"];
  EXPECT_EQ(host[0]["measured_ns"], 300);
  EXPECT_EQ(host[1]["post_ops"][0], "relu");
  EXPECT_EQ(host[1]["measured_ns"], 200);
  nlohmann::json device = segments[1]["kernels"];
  ASSERT_EQ(device.size(), 3u) << "the last has no description, the second did not run";
  EXPECT_EQ(device[0]["ops"][0], "a");
  EXPECT_FALSE(device[2].contains("measured_ns"));
  StatusOr<std::string> table = formatMeasuredTimes(*added);
  EXPECT_NE(table->find("260 ns    4 %     2  fc, act"), std::string::npos) << *table;
}

TEST(ReportKeys, SayWhatWasFused) {
  Plan plan;
  HostFunction &function = plan.hostCode.functions.emplace_back();
  function.kernels.resize(2);
  function.kernels[0].kind = HostKernelKind::Convolution;
  function.kernels[0].calls = {"conv1", "bn1", "act1"};
  function.kernels[0].hasBias = true;
  function.kernels[0].postOps = {{PostOpKind::Relu, 0, 0}};
  Engine &engine = plan.engines.emplace_back();
  engine.dispatches.resize(1);
  engine.dispatches[0].calls = {"sum"};
  plan.steps = {{StepKind::CallHost, 0, {}, {}, "f_0", 0}, {StepKind::LaunchEngine, 0, {}, {}, "f_1", 1}};
  std::string report = addKernels(R"({"segments": [{"target": "host", "ops": ["a", "b", "c"]},
                                                    {"target": "vulkan", "ops": ["d"]}, {}], "summary": {}})",
                                  plan);
  EXPECT_EQ(formatKernels(report),
            "kernels:\n"
            "  segment 0 (host): 2 kernels from 3 ops: convolution+bias+relu (conv1, bn1, act1); loops\n"
            "  segment 1 (vulkan): 1 kernel from 1 op: dispatch (sum)\n");
  EXPECT_EQ(addKernels("[]", plan), "[]");
  EXPECT_EQ(formatKernels("[]"), "");
  const char *named =
      R"({"segments": [{"target": "host", "kernels": [{"kind": "loops", "ops": ["a<b>"]}]}], "summary": {}})";
  std::string page = insertKernels("<body><script></script>", named);
  EXPECT_NE(page.find("<td class=\"mono\">loops (a&lt;b&gt;)</td></tr>\n</tbody></table></div>\n</section>\n<script>"),
            std::string::npos)
      << page;
  EXPECT_EQ(insertKernels("<body><script></script>", R"({"segments": [{"target": "host"}]})"),
            "<body><script></script>");
}

TEST(ReportKeys, SayWhatMemoryIsNeeded) {
  MemoryUse use;
  use.hostScratch = {2048, 5120};
  use.deviceTemporaries = {1 << 20, 3 << 20};
  use.hostConstants = 10;
  EXPECT_EQ(formatMemory(use), "memory of a call\n"
                               "                            peak    unshared   ratio\n"
                               "  host scratch           2.0 KiB     5.0 KiB     2.5\n"
                               "  device temporaries     1.0 MiB     3.0 MiB     3.0\n"
                               "  together               1.0 MiB     3.0 MiB     3.0\n"
                               "constants: 10 B on the host, 0 B on the device\n");
  StatusOr<std::string> report = addMemory(R"({"segments": [], "summary": {}})", use);
  ASSERT_TRUE(report.isOk()) << report.status().message();
  EXPECT_NE(report->find("\"unshared\": 3145728"), std::string::npos) << *report;
  EXPECT_FALSE(addMemory("[]", use).isOk());
}

TEST(Profile, RefusesWhatIsNoReport) {
  for (const char *text : {"", "[]", "{}", R"({"segments": []})", R"({"segments": 1, "summary": {}})", "{\"a\""}) {
    StatusOr<std::string> added = addMeasuredTimes(text, kSteps);
    ASSERT_FALSE(added.isOk()) << text;
    EXPECT_EQ(added.status().message().rfind("expected a partition report of one function, but ", 0), 0u);
    EXPECT_FALSE(formatMeasuredTimes(text).isOk());
  }
}

TEST(ReportKeys, StandBehindWhatAReportHas) {
  Plan plan;
  plan.engines.emplace_back().dispatches.resize(1);
  plan.steps = {{StepKind::LaunchEngine, 0, {}, {}, "f", 0}};
  EXPECT_EQ(addKernels(R"({"version": 1, "segments": [{"target": "vulkan"}], "summary": {}, "last": 0.5})", plan),
            R"({
  "version": 1,
  "segments": [
    {
      "target": "vulkan",
      "kernels": [
        {
          "kind": "dispatch",
          "ops": []
        }
      ]
    }
  ],
  "summary": {},
  "last": 0.5
}
)");
}

TEST(ReportKeys, RefuseReportsThatAreDamaged) {
  // A report from elsewhere may have members of other types and be nested without limit.
  std::string deep(100000, '[');
  EXPECT_FALSE(addMeasuredTimes(R"({"segments": )" + deep, kSteps).isOk());
  EXPECT_FALSE(
      addMeasuredTimes(R"({"segments": )" + deep + std::string(100000, ']') + R"(, "summary": {}})", kSteps).isOk());
  StatusOr<std::string> added = addMeasuredTimes(
      R"({"segments": [1, {"ops": 5, "target": [], "kernels": [7], "modelled_ns": {"compute": "x"}}], "summary": {}})",
      kSteps);
  ASSERT_TRUE(added.isOk());
  EXPECT_TRUE(formatMeasuredTimes(*added).isOk());
  EXPECT_NE(formatKernels(*added).find("segment 1 (?): 1 kernel from 0 ops"), std::string::npos);
}

static std::string describe(const Plan &plan) {
  StatusOr<std::string> text = describePlan(plan);
  return text.isOk() ? *text : "error: " + text.status().message();
}

TEST(PlanText, NamesWhatAPlanConsistsOf) {
  test::PlanBuilder b;
  b.plan->name = "forward";
  b.plan->symbols.push_back({"batch", 1, 8, 0, 0});
  uint32_t x = b.input("x", {Expr::dim(0, 0)}), y = b.output("y", {Expr::dim(0, 0)});
  uint32_t w = b.constant("w", MemorySpace::Device, {1, 2, 3}), t = b.temporary("t", MemorySpace::Device, {Expr(256)});
  uint32_t engine = b.engine("k", 2);
  b.plan->engines[engine].kernels[0].requirements = {"float16"};
  b.launch(engine, {w, t});
  b.plan->steps[0].segment = 4;
  b.control(StepKind::Branch, {b.number("c", ElementType::Bool)}, {[&] { b.copy(x, y); }, [] {}});
  b.plan->hostCode.triple = "x86_64-linux";
  b.plan->hostCode.objects.push_back({"x86-64-v3", {"avx2", "fma"}, std::vector<char>(2048)});
  EXPECT_EQ(describe(*b.plan), R"(program 'forward'
inputs
  x: float32[batch]
results
  y: float32[batch]
steps
     0  engine engine_k of segment 4 (%2 %3)
     1  branch (%4)
     2    copy (%0 %1)
buffers
    %0  input      host             ?  float32[batch] x
    %1  result     host             ?  float32[batch] y
    %2  constant   device        12 B  float32[3] w
    %3  temporary  device     1.0 KiB  float32[256] t
    %4  temporary  host           1 B  bool c
engine engine_k: 1 kernels (4 B of SPIR-V), 1 dispatches, needs float16, no host version
host code for x86_64-linux, x86-64-v3: 2.0 KiB, 0 functions, needs avx2, fma
1 constants: 12 B
)");
}

TEST(PlanText, RefusesPlansWithNumbersOutOfRange) {
  auto refusal = [](const std::function<void(Plan &)> &damage) {
    test::PlanBuilder b;
    uint32_t x = b.input("x", {Expr(4)}), y = b.output("y", {Expr(4)});
    b.call(b.hostFunction("f", {Access::Read, Access::Write}), {x, y});
    damage(*b.plan);
    return describe(*b.plan);
  };
  EXPECT_EQ(refusal([](Plan &) {}).substr(0, 7), "program");
  EXPECT_EQ(refusal([](Plan &plan) { plan.inputs = {1 << 30}; }).substr(0, 7), "error: ");
  EXPECT_EQ(refusal([](Plan &plan) { plan.outputs = {1 << 30}; }).substr(0, 7), "error: ");
  EXPECT_EQ(refusal([](Plan &plan) { plan.buffers[0].kind = BufferKind(7); }).substr(0, 7), "error: ");
  for (StepKind kind : {StepKind::LaunchEngine, StepKind::CallHost, StepKind::Callback, StepKind::RunForeign}) {
    std::string error = refusal([&](Plan &plan) {
      plan.steps[0].kind = kind;
      plan.steps[0].callee = 1 << 30;
    });
    EXPECT_NE(error.find("callee 1073741824 is out of range"), std::string::npos) << error;
  }
}

TEST(PlanText, EscapesAndShortensNames) {
  test::PlanBuilder b;
  b.plan->name = "a'\n\x1b[2Jb\xc2\x9b\xe2\x80\xae\xff\xc3\xa4";
  uint32_t x = b.input(std::string(1 << 20, 'x'), {Expr::dim(0, 0)}), y = b.output("y\r", {Expr(4)});
  b.plan->symbols.push_back({"n\x07", 1, 8, 0, 0});
  b.plan->hostCode.functions.push_back({std::string(1 << 20, 'f'), 2, {Access::Read, Access::Write}});
  for (int i = 0; i < 100; ++i)
    b.call(0, {x, y});
  std::string text = describe(*b.plan);
  EXPECT_EQ(text.substr(0, text.find('\n')), "program 'a\\'\\n\\x1b[2Jb\\xc2\\x9b\\xe2\\x80\\xae\\xff\xc3\xa4'");
  EXPECT_NE(text.find("float32[n\\x07]"), std::string::npos);
  EXPECT_NE(text.find("  y\\x0d: float32[4]\n"), std::string::npos);
  EXPECT_LT(text.size(), 64u << 10) << "the name is shown once per step";
  for (char c : text)
    EXPECT_TRUE(c == '\n' || (c & 0xe0) != 0);
  ContainerInfo info;
  info.metadata = "{\"x\": \"\x1b]0;\"}";
  EXPECT_NE(describeContainer(info).find("metadata: {\"x\": \"\\x1b]0;\"}\n"), std::string::npos);
}

TEST(PlanText, SaysWhatAContainerHolds) {
  ContainerInfo info;
  info.major = 1;
  info.arch = "x86_64";
  info.requirements = {"float16"};
  info.report = R"({"segments": [{"target": "vulkan"}, {"target": "host"}, {"target": "vulkan"}], "summary": {}})";
  info.sections = {{"plan", 104, 4096}};
  EXPECT_EQ(describeContainer(info), R"(container of version 1.0, host code for x86_64, needs a device with float16
report: 3 segments: 1 on host, 2 on vulkan
sections
  plan             4.0 KiB from byte 104
)");
}
