// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../FakeDevice.h"
#include "../PlanBuilder.h"

#include <gtest/gtest.h>

using namespace inlay::rt;
using namespace inlay::rt::test;

static StatusOr<MemoryUse> measure(const PlanBuilder &builder, bool unified, const InputDims &dims) {
  struct Library final : HostSymbolResolver {
    StatusOr<HostEntry> lookup(const std::string &) override {
      return HostEntry([](void *const *) {});
    }
  };
  auto program = Program::load(builder.plan, std::make_shared<FakeDevice>(unified), std::make_shared<Library>());
  EXPECT_TRUE(program.isOk()) << program.status().message();
  return (*program)->memory(dims);
}

static void expectBytes(const SharedBytes &bytes, uint64_t peak, uint64_t unshared) {
  EXPECT_EQ(bytes.peak, peak);
  EXPECT_EQ(bytes.unshared, unshared);
}

/// Measures five engines in a row over n floats, with constants and scratch.
TEST(MemoryUse, OfTheDevice) {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0);
  uint32_t x = builder.input("x", {n}), y = builder.output("y", {n});
  builder.constant("used", MemorySpace::Device, {1, 2, 3});
  builder.constant("on the host", MemorySpace::Host, {1});
  uint32_t last = builder.temporary("t", MemorySpace::Device, {n}), twice = builder.engine("double", 2);
  builder.plan->engines[0].scratch = {Expr(100), Expr::binary(Expr::Op::Mul, n, Expr(2))};
  builder.copy(x, last);
  for (uint32_t i = 0; i < 5; ++i) {
    uint32_t next = builder.temporary("t", MemorySpace::Device, {n});
    builder.launch(twice, {last, next}, {i});
    last = next;
  }
  builder.copy(last, y, {5});
  auto use = measure(builder, false, {{8}});
  ASSERT_TRUE(use.isOk()) << use.status().message();
  expectBytes(use->deviceTemporaries, 2 * 32, 6 * 32);
  expectBytes(use->deviceScratch, 116, 5 * 116);
  expectBytes(use->hostTemporaries, 0, 0);
  expectBytes(use->total(), 64 + 116, 192 + 580);
  EXPECT_EQ(use->deviceConstants, 12u);
  EXPECT_EQ(use->hostConstants, 4u);
  EXPECT_EQ(measure(builder, false, {{16}})->deviceTemporaries.unshared, 6u * 64);
  EXPECT_EQ(measure(builder, false, {}).status().message(), "expected 1 input, but got 0");
}

/// Measures two host functions with 64 and 256 bytes of scratch and 16 bytes between them. The scratch of the second
/// would be 1000 bytes if its buffers, which are never live at the same time, shared nothing.
TEST(MemoryUse, OfTheHost) {
  PlanBuilder builder;
  std::vector<Expr> four = {Expr(4)};
  uint32_t x = builder.input("x", four), y = builder.output("y", four);
  uint32_t t = builder.temporary("t", MemorySpace::Host, four);
  uint32_t small = builder.temporary("scratch", MemorySpace::Host, {Expr(16)});
  uint32_t large = builder.temporary("scratch", MemorySpace::Host, {Expr(64)});
  std::vector<Access> access = {Access::Read, Access::Write, Access::Write};
  uint32_t first = builder.hostFunction("first", access), second = builder.hostFunction("second", access);
  builder.plan->hostCode.functions[0].scratch = {Expr(16)};
  builder.plan->hostCode.functions[1].scratch = {Expr(64)};
  builder.plan->hostCode.functions[1].unsharedScratch = {Expr(1000)};
  builder.call(first, {x, t, small});
  builder.call(second, {t, y, large}, {0});
  auto use = measure(builder, true, {{4}});
  ASSERT_TRUE(use.isOk()) << use.status().message();
  expectBytes(use->hostScratch, 256, 64 + 1000);
  expectBytes(use->hostTemporaries, 16, 16);
  expectBytes(use->deviceTemporaries, 0, 0);
  builder.plan->hostCode.functions[1].unsharedScratch = {Expr::binary(Expr::Op::FloorDiv, Expr(1), Expr(0))};
  EXPECT_EQ(measure(builder, true, {{4}}).status().message().find("host function 'second': "), 0u);
}

/// Calls a program whose slots fit into the limit for each dims, but not if they are large enough for all of them.
TEST(MemoryUse, StaysBelowTheLimitForChangingDims) {
  PlanBuilder builder;
  Expr n = Expr::dim(0, 0), m = Expr::dim(1, 0);
  uint32_t a = builder.input("a", {n}), b = builder.input("b", {m});
  uint32_t ya = builder.output("ya", {n}), yb = builder.output("yb", {m}), yc = builder.output("yc", {m});
  uint32_t ta = builder.temporary("ta", MemorySpace::Device, {n}),
           tb = builder.temporary("tb", MemorySpace::Device, {m}),
           tc = builder.temporary("tc", MemorySpace::Device, {m});
  for (auto [from, to] : {std::pair(a, ta), {b, tb}, {b, tc}, {ta, ya}, {tb, yb}, {tc, yc}})
    builder.copy(from, to);
  for (size_t limit : {500, 1000}) {
    auto device = std::make_shared<FakeDevice>(/*unified=*/false);
    auto program = Program::load(builder.plan, device, nullptr);
    ASSERT_TRUE(program.isOk()) << program.status().message();
    (*program)->limitTemporaries({0, limit});
    size_t largest = 0;
    for (auto [large, small] : {std::pair(100, 1), {1, 55}, {100, 1}}) {
      std::vector<float> in(large, 3), other(small, 4), outA(large), outB(small), outC(small);
      Status status = (*program)->call({view(in), view(other)}, {view(outA), view(outB), view(outC)});
      ASSERT_TRUE(status.isOk()) << status.message();
      EXPECT_EQ(outA, in);
      EXPECT_EQ(outB, other);
      EXPECT_EQ(outC, other);
      largest = std::max(largest, device->liveBytes());
    }
    EXPECT_LE(largest, limit);
    if (limit == 1000) {
      EXPECT_GT(largest, 500u) << "slots don't shrink without need";
    }
  }
}
