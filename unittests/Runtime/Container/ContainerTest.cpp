// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that a written plan can be read back, and that writing gives the same bytes each time.

#include "ContainerFixture.h"
#include "inlay/Runtime/Core/PlanChecker.h"

#include "../PlanBuilder.h"

using namespace inlay::rt;
using namespace inlay::rt::test;

TEST_F(ContainerTest, RandomPlansComeBackFieldByField) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::shared_ptr<Plan> plan = randomPlan(seed);
    ASSERT_TRUE(checkPlan(*plan).isOk()) << seed << ": " << checkPlan(*plan).message();
    write(*plan, {"{\"report\":1}", "{}"});
    auto saved = readContainer(at("a.inlay"));
    ASSERT_TRUE(saved.isOk()) << seed << ": " << saved.status().message();
    ASSERT_EQ(describe(*saved->plan), describe(*plan)) << seed;
    EXPECT_TRUE(checkPlan(*saved->plan).isOk()) << seed;
    EXPECT_EQ(saved->info.report, "{\"report\":1}");
    EXPECT_EQ(saved->info.metadata, "{}");
    EXPECT_EQ(saved->info.arch, plan->hostCode.objects.empty() ? "" : thisArch());
  }
}

TEST_F(ContainerTest, TheSamePlanGivesTheSameBytes) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::string first = write(*randomPlan(seed), {"r", "m"});
    EXPECT_EQ(write(*randomPlan(seed), {"r", "m"}), first) << seed;
    auto saved = readContainer(at("a.inlay"));
    ASSERT_TRUE(saved.isOk());
    EXPECT_EQ(write(*saved->plan, {"r", "m"}), first) << "a plan that was read is written the same, seed " << seed;
  }
}

TEST_F(ContainerTest, InfoSaysWhatTheFileHolds) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  builder.constant("w", MemorySpace::Host, {1, 2});
  builder.engine("double", 2);
  builder.engine("halve", 2);
  builder.plan->engines[0].kernels[0].requirements = {"int64", "float16"};
  builder.plan->engines[1].kernels[0].requirements = {"float16"};
  write(*builder.plan, {"the report", ""});
  auto saved = readContainer(at("a.inlay"));
  ASSERT_TRUE(saved.isOk()) << saved.status().message();
  EXPECT_EQ(saved->info.major, 6);
  EXPECT_EQ(saved->info.requirements, (std::vector<std::string>{"float16", "int64"}));
  std::vector<std::string> names;
  for (const ContainerSection &section : saved->info.sections)
    names.push_back(section.name);
  EXPECT_EQ(names, (std::vector<std::string>{"plan", "spirv", "report", "constants"}));
  EXPECT_EQ(saved->info.sections.front().offset, 256u) << "the multiple of 64 after a header and a table of four";
  EXPECT_EQ(saved->info.sections.back().offset % 4096, 0u);
  EXPECT_EQ(saved->info.sections.back().bytes, 8u);
}

TEST_F(ContainerTest, EqualBytesAreStoredOnce) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  std::vector<float> weights(5000, 1.5F);
  for (const char *name : {"a", "b", "c"})
    builder.constant(name, MemorySpace::Host, weights);
  EXPECT_LT(write(*builder.plan).size(), 5000 * sizeof(float) + 3 * 4096);
  auto saved = readContainer(at("a.inlay"));
  ASSERT_TRUE(saved.isOk());
  EXPECT_EQ(saved->plan->constants[0].data, saved->plan->constants[2].data);
  EXPECT_EQ(describe(*saved->plan), describe(*builder.plan));
}

TEST_F(ContainerTest, AConstantOfAPageStartsOnAPage) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  for (size_t count : {1, 1024, 2, 1023})
    builder.constant("w", MemorySpace::Host, std::vector<float>(count, float(count)));
  write(*builder.plan);
  auto saved = readContainer(at("a.inlay"));
  ASSERT_TRUE(saved.isOk());
  auto place = [&](size_t constant) { return reinterpret_cast<uintptr_t>(saved->plan->constants[constant].data); };
  EXPECT_EQ(place(1) - place(0), 4096u);
  EXPECT_EQ(place(2) - place(1), 4096u);
  EXPECT_EQ(place(3) - place(2), 64u) << "smaller constants start on a cache line";
}

TEST_F(ContainerTest, ConstantsOutliveTheFileAndTheProgramThatReadThem) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)});
  builder.copy(x, y);
  builder.constant("w", MemorySpace::Host, std::vector<float>(10000, 2.5F));
  write(*builder.plan);
  Constant constant;
  {
    auto saved = readContainer(at("a.inlay"));
    ASSERT_TRUE(saved.isOk());
    constant = saved->plan->constants[0];
  }
  write(*smallPlan()); // another file of the same name
  std::filesystem::remove(at("a.inlay"));
  EXPECT_EQ(static_cast<const float *>(constant.data)[9999], 2.5F);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data) % 4096, 0u) << "large constants start on a page";
}

TEST_F(ContainerTest, APlanThatCallsTheFrameworkIsRefusedWithAList) {
  PlanBuilder builder;
  uint32_t x = builder.input("x", {Expr(4)}), y = builder.output("y", {Expr(4)}),
           h = builder.temporary("h", MemorySpace::Host, {Expr(4)});
  builder.plan->callbacks.push_back({"aten::foo", 1, {}});
  builder.step(StepKind::Callback, 0, {x, h});
  builder.step(StepKind::Callback, 0, {h, y});
  builder.plan->steps[1].segment = 3;
  builder.plan->steps[1].calls = {"foo", "bar"};
  Status status = writeContainer(at("a.inlay"), *builder.plan, {});
  EXPECT_EQ(status.message(),
            "2 of the program's 2 steps call the framework, which isn't saved: 'step0', 'step1' (segment 3: foo, bar)");
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing is left behind";
  EXPECT_TRUE(writeContainer(at("a.inlay"), *builder.plan, {}, {"", true}).isOk());
}

TEST_F(ContainerTest, APlanThatCouldNotBeReadIsNotWritten) {
  std::shared_ptr<Plan> plan = smallPlan();
  plan->steps[0].buffers[0] = 9;
  EXPECT_EQ(writeContainer(at("a.inlay"), *plan, {}).message(),
            "the plan is invalid: step 0 ('step0'): buffer 9 is out of range of 2");
  plan = smallPlan();
  plan->constants.push_back({nullptr, 8, nullptr, "w"});
  EXPECT_EQ(writeContainer(at("a.inlay"), *plan, {}).message(), "constant 0 ('w') has no data");
  plan = smallPlan();
  std::vector<Expr::Instruction> code = {{Expr::Op::Constant, 0, 0}};
  for (int i = 0; i < 3000; ++i) {
    code.push_back({Expr::Op::Constant, 0, 0});
    code.push_back({Expr::Op::Add, 0, 0});
  }
  plan->callbacks.push_back({"f", 0, {Expr(code)}});
  EXPECT_EQ(writeContainer(at("a.inlay"), *plan, {}).message(),
            "expected at most 4096 instructions of an expression, but got 6001");
}
