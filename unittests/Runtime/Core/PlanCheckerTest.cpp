// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test makes one change to a valid plan and expects the message for it.

#include "../PlanBuilder.h"

#include "inlay/Runtime/Core/PlanChecker.h"

#include <gtest/gtest.h>

#include <limits>

using namespace inlay::rt;
using namespace inlay::rt::test;

namespace {

/// y = f(add(x, w)): an input of [?], a device constant, an engine, a copy and a host function.
struct PlanCheckerTest : testing::Test {
  PlanCheckerTest() {
    x = builder.input("x", {Expr(4)});
    w = builder.constant("w", MemorySpace::Device, {1, 2, 3, 4});
    dx = builder.temporary("x.device", MemorySpace::Device, {Expr(4)});
    dy = builder.temporary("y.device", MemorySpace::Device, {Expr(4)});
    hy = builder.temporary("y.host", MemorySpace::Host, {Expr(4)});
    y = builder.output("y", {Expr(4)});
    engine = builder.engine("add", 3);
    function = builder.hostFunction("f", {Access::Read, Access::Write});
    uint32_t first = builder.copy(x, dx);
    uint32_t second = builder.launch(engine, {dx, w, dy}, {first});
    uint32_t third = builder.copy(dy, hy, {second});
    builder.call(function, {hy, y}, {third});
  }

  std::string error() { return checkPlan(*builder.plan).message(); }
  Plan &plan() { return *builder.plan; }

  PlanBuilder builder;
  uint32_t x, w, dx, dy, hy, y, engine, function;
};

} // namespace

TEST_F(PlanCheckerTest, AcceptsASoundPlan) { EXPECT_EQ(error(), ""); }

TEST_F(PlanCheckerTest, AcceptsAnEmptyPlan) { EXPECT_TRUE(checkPlan(Plan()).isOk()); }

TEST_F(PlanCheckerTest, InputNumberOutOfRange) {
  plan().inputs[0] = 99;
  EXPECT_EQ(error(), "input 0: buffer 99 is out of range of 6");
}

TEST_F(PlanCheckerTest, InputListNamesAnotherKind) {
  plan().inputs[0] = dx;
  EXPECT_EQ(error(), "input 0: buffer 2 ('x.device') isn't this input");
}

TEST_F(PlanCheckerTest, InputThatNoListNames) {
  plan().buffers[dx].kind = BufferKind::Input;
  plan().buffers[dx].space = MemorySpace::Host;
  plan().buffers[dx].index = 7;
  EXPECT_EQ(error(), "buffer 2 ('x.device'): is marked as input 7, but the plan's list has no such entry");
}

TEST_F(PlanCheckerTest, OutputInDeviceMemory) {
  plan().buffers[y].space = MemorySpace::Device;
  EXPECT_EQ(error(), "buffer 5 ('y'): expected an output in host memory, but it is in device memory");
}

TEST_F(PlanCheckerTest, UnknownEnumerators) {
  plan().buffers[dx].kind = static_cast<BufferKind>(9);
  EXPECT_EQ(error(), "buffer 2 ('x.device'): unknown kind 9");
  plan().buffers[dx].kind = BufferKind::Temporary;
  plan().buffers[dx].space = static_cast<MemorySpace>(9);
  EXPECT_EQ(error(), "buffer 2 ('x.device'): unknown memory space 9");
  plan().buffers[dx].space = MemorySpace::Device;
  plan().buffers[dx].type.element = static_cast<ElementType>(99);
  EXPECT_EQ(error(), "buffer 2 ('x.device'): unknown element type 99");
}

TEST_F(PlanCheckerTest, NegativeDims) {
  plan().buffers[dx].type.dims = {Expr(-4)};
  EXPECT_EQ(error(), "buffer 2 ('x.device'): dim 0: expected at least 0, but got -4");
}

TEST_F(PlanCheckerTest, SizeThatOverflows) {
  plan().buffers[dx].type.dims = {Expr(int64_t(1) << 40), Expr(int64_t(1) << 40)};
  EXPECT_EQ(error(), "buffer 2 ('x.device'): the byte size of float32[1099511627776x1099511627776] overflows 64 bits");
}

TEST_F(PlanCheckerTest, DimOfAnInputThatDoesNotExist) {
  plan().buffers[dx].type.dims = {Expr::dim(1, 0)};
  EXPECT_EQ(error(), "buffer 2 ('x.device'): dim 0: expression reads dim 0 of input 1, which doesn't exist");
}

TEST_F(PlanCheckerTest, MalformedDim) {
  plan().buffers[dx].type.dims = {Expr({{Expr::Op::Add, 0, 0}})};
  EXPECT_EQ(error(), "buffer 2 ('x.device'): dim 0: malformed expression: its operands don't match its operations");
}

TEST_F(PlanCheckerTest, ConstantOutOfRangeOfOtherSizeOrWithoutData) {
  plan().buffers[w].index = 3;
  EXPECT_EQ(error(), "buffer 1 ('w'): constant 3 is out of range of 1");
  plan().buffers[w].index = 0;
  plan().constants[0].size = 12;
  EXPECT_EQ(error(), "buffer 1 ('w'): expected 16 bytes for float32[4], but constant 0 has 12");
  plan().constants[0].size = 16;
  plan().constants[0].dims = {2, 2};
  plan().constants[0].order = {1, 0};
  EXPECT_EQ(error(), "buffer 1 ('w'): expected the dims of constant 0, which has an order, to be [4], but got [2, 2]");
  plan().constants[0].dims = {4};
  EXPECT_EQ(error(), "buffer 1 ('w'): constant '': expected each dim once, but got the order [1, 0] of dims [4] in 16 "
                     "bytes");
  plan().constants[0] = {nullptr, 16, nullptr};
  EXPECT_EQ(error(), "buffer 1 ('w'): constant 0 has no data");
  plan().buffers[w].type.dims = {Expr::dim(0, 0)};
  EXPECT_NE(error().find("a constant's type must be static"), std::string::npos);
}

TEST_F(PlanCheckerTest, ConstantsInADevicesOrderAreForEnginesAlone) {
  plan().constants[0].dims = {4};
  plan().constants[0].order = {0};
  EXPECT_EQ(error(), "");
  builder.copy(w, hy, {});
  EXPECT_EQ(error(), "step 4 ('step4'): copies buffer 1 ('w'), which the device stores in another order");
}

TEST_F(PlanCheckerTest, StepThatRunsAfterALaterOne) {
  plan().steps[1].after = {1};
  EXPECT_EQ(error(), "step 1 ('step1'): runs after step 1, which doesn't come before it");
}

TEST_F(PlanCheckerTest, StepNumbersOutOfRange) {
  plan().steps[1].callee = 5;
  EXPECT_EQ(error(), "step 1 ('step1'): callee 5 is out of range of 1");
  plan().steps[1].callee = 0;
  plan().steps[1].buffers[0] = 77;
  EXPECT_EQ(error(), "step 1 ('step1'): buffer 77 is out of range of 6");
  plan().steps[1].buffers[0] = dx;
  plan().steps[1].kind = static_cast<StepKind>(8);
  EXPECT_EQ(error(), "step 1 ('step1'): unknown kind 8");
}

TEST_F(PlanCheckerTest, ArgumentCounts) {
  plan().steps[1].buffers.pop_back();
  EXPECT_EQ(error(), "step 1 ('step1'): expected 3 buffers, but got 2");
  plan().steps[1].buffers.push_back(dy);
  plan().steps[3].buffers.pop_back();
  EXPECT_EQ(error(), "step 3 ('step3'): expected 2 buffers, but got 1");
  plan().steps[3].buffers.push_back(y);
  plan().steps[0].buffers.push_back(dx);
  EXPECT_EQ(error(), "step 0 ('step0'): expected 2 buffers to copy, but got 3");
}

TEST_F(PlanCheckerTest, WrongMemorySpace) {
  plan().steps[1].buffers[0] = x;
  EXPECT_EQ(error(), "step 1 ('step1'): expected buffer 0 ('x') in device memory, but it is in host memory");
}

TEST_F(PlanCheckerTest, WritesWhatIsReadOnly) {
  plan().steps[1].buffers = {dx, dy, w};
  EXPECT_EQ(error(), "step 1 ('step1'): writes buffer 1 ('w'), which is an unchangeable constant");
  plan().steps[1].buffers = {dx, w, dy};
  plan().steps[3].buffers = {hy, x};
  EXPECT_EQ(error(), "step 3 ('step3'): writes buffer 0 ('x'), which is an input");
}

TEST_F(PlanCheckerTest, CopiesOfUnequalSizeOrToItself) {
  plan().buffers[dx].type.dims = {Expr(5)};
  EXPECT_EQ(error(), "step 0 ('step0'): copies buffer 0 ('x') of 16 bytes to buffer 2 ('x.device') of 20 bytes");
  plan().steps[0].buffers = {dx, dx};
  EXPECT_EQ(error(), "step 0 ('step0'): copies buffer 2 ('x.device') to itself");
}

TEST_F(PlanCheckerTest, OutputThatNobodyWrites) {
  plan().steps.pop_back();
  EXPECT_EQ(error(), "output 0: no step writes buffer 5 ('y')");
}

TEST_F(PlanCheckerTest, EngineNumbers) {
  Engine &broken = plan().engines[0];
  broken.dispatches[0].kernel = 2;
  EXPECT_EQ(error(), "engine 'engine_add': dispatch 0: kernel 2 is out of range of 1");
  broken.dispatches[0].kernel = 0;
  broken.dispatches[0].buffers[1] = 3;
  EXPECT_EQ(error(), "engine 'engine_add': dispatch 0 (kernel 'add'): buffer 3 is out of range of 3 arguments and 0 "
                     "scratch buffers");
  broken.dispatches[0].buffers.pop_back();
  EXPECT_EQ(error(), "engine 'engine_add': dispatch 0 (kernel 'add'): expected 3 buffers, but got 2");
  broken.dispatches[0].buffers = {0, 1, 2};
  broken.dispatches[0].pushConstants = {Expr(1)};
  EXPECT_EQ(error(), "engine 'engine_add': dispatch 0 (kernel 'add'): expected 0 push constants, but got 1");
}

TEST_F(PlanCheckerTest, EngineContents) {
  Engine &broken = plan().engines[0];
  broken.scratch = {Expr(0)};
  EXPECT_EQ(error(), "engine 'engine_add': scratch 0: expected at least 1 byte, but got 0");
  broken.scratch = {Expr(std::numeric_limits<int64_t>::max())};
  EXPECT_EQ(error(), "");
  broken.kernels[0].block = {64, 0, 1};
  EXPECT_EQ(error(), "engine 'engine_add': kernel 0 ('add'): expected a block of at least 1x1x1, but got 64x0x1");
  broken.kernels[0].block = {1, 1, 1};
  broken.kernels[0].kinds = {BindingKind::ScalarTexels};
  EXPECT_EQ(error(), "engine 'engine_add': kernel 0 ('add'): expected 3 kinds of bindings, but got 1");
  broken.kernels[0].kinds.assign(3, BindingKind::ScalarTexels);
  EXPECT_EQ(error(), "engine 'engine_add': kernel 0 ('add'): binding 2 is a texel buffer, but written");
  broken.kernels[0].kinds.assign(3, static_cast<BindingKind>(3));
  EXPECT_EQ(error(), "engine 'engine_add': kernel 0 ('add'): unknown kind of binding 3");
  broken.kernels[0].kinds.clear();
  broken.kernels[0].spirv.clear();
  EXPECT_EQ(error(), "engine 'engine_add': kernel 0 ('add') has no SPIR-V");
  broken.kernels[0].spirv = {0};
  broken.arguments = UINT32_MAX;
  EXPECT_EQ(error(), "engine 'engine_add': expected at most 65536 arguments, but got 4294967295");
}

TEST_F(PlanCheckerTest, EngineAtItsLimits) {
  Engine &changed = plan().engines[0];
  changed.kernels[0].kinds = {BindingKind::VectorTexels, BindingKind::Storage, BindingKind::Storage};
  EXPECT_EQ(error(), "");
  changed.arguments = 65536;
  EXPECT_EQ(error(), "step 1 ('step1'): expected 65536 buffers, but got 3");
}

TEST_F(PlanCheckerTest, EngineExpressionsOfDimsThatDoNotExist) {
  Engine &broken = plan().engines[0];
  broken.kernels[0].pushConstants = 1;
  broken.dispatches[0].pushConstants = {Expr::dim(3, 0)};
  EXPECT_EQ(error(),
            "engine 'engine_add': dispatch 0 (kernel 'add'): push constant: expression reads dim 0 of input 3, "
            "which doesn't exist");
  broken.scratch = {Expr(1), Expr::dim(0, 2)};
  EXPECT_EQ(error(), "engine 'engine_add': scratch 1: expression reads dim 2 of input 0, which doesn't exist");
}

TEST_F(PlanCheckerTest, LaunchWithOtherBuffers) {
  plan().steps[1].buffers.pop_back();
  EXPECT_EQ(error(), "step 1 ('step1'): expected 3 buffers, but got 2");
  plan().steps[1].buffers = {dx, w, dy, dy};
  EXPECT_EQ(error(), "step 1 ('step1'): expected 3 buffers, but got 4");
}

TEST_F(PlanCheckerTest, EngineGridWithoutAValue) {
  plan().engines[0].dispatches[0].grid[0] = Expr::binary(Expr::Op::FloorDiv, Expr(1), Expr(0));
  EXPECT_EQ(error(), "engine 'engine_add': dispatch 0 (kernel 'add'): grid: 1//0 has no value");
}

TEST_F(PlanCheckerTest, HostFunctionAccesses) {
  plan().hostCode.functions[0].access = {Access::Read};
  EXPECT_EQ(error(), "host function 'f': expected 2 accesses, but got 1");
  plan().hostCode.functions[0].arguments = UINT32_MAX;
  plan().hostCode.functions[0].access = {};
  EXPECT_EQ(error(), "step 3 ('step3'): expected 4294967295 buffers, but got 2");
}

TEST_F(PlanCheckerTest, HostFunctionScratch) {
  plan().hostCode.functions[0].scratch = {Expr(1), Expr(1), Expr(1)};
  EXPECT_EQ(error(), "host function 'f': expected at most 2 scratch arguments, but got 3");
}

TEST_F(PlanCheckerTest, CallbackWithFewerBuffersThanInputs) {
  plan().callbacks.push_back({"aten::foo", 3});
  builder.step(StepKind::Callback, 0, {hy, y});
  EXPECT_EQ(error(), "step 4 ('step4'): expected at least 3 buffers, but got 2");
}

TEST_F(PlanCheckerTest, ForeignEngines) {
  plan().foreignEngines.push_back({"foreign", "dsp", "", 2, 1});
  builder.step(StepKind::RunForeign, 0, {hy});
  EXPECT_EQ(error(), "step 4 ('step4'): expected 2 buffers, but got 1");
  plan().foreignEngines[0].inputs = 3;
  EXPECT_EQ(error(), "step 4 ('step4'): expected at most 2 inputs of 'foreign', but got 3");
  plan().foreignEngines[0] = {"foreign", "dsp", "", 1, 1};
  EXPECT_EQ(error(), "");
  plan().steps[4].callee = 1;
  EXPECT_EQ(error(), "step 4 ('step4'): callee 1 is out of range of 1");
}

TEST(ArgumentAccess, IsTheUnionOverDispatches) {
  PlanBuilder builder;
  builder.engine("add", 3);
  Engine &engine = builder.plan->engines[0];
  engine.arguments = 4;
  engine.dispatches.push_back(engine.dispatches[0]);
  engine.dispatches[1].buffers = {2, 1, 0};
  EXPECT_EQ(argumentAccess(engine),
            (std::vector<Access>{Access::ReadWrite, Access::Read, Access::ReadWrite, Access::Read}));
}

TEST_F(PlanCheckerTest, SymbolsThatNoInputSays) {
  auto with = [&](Symbol symbol) {
    plan().symbols = {std::move(symbol)};
    return error();
  };
  EXPECT_EQ(with({"n", 0, 8, 0, 0}), "");
  EXPECT_EQ(with({"", 0, 8, 0, 0}), "symbol '': expected a name");
  EXPECT_EQ(with({"n", -1, 8, 0, 0}), "symbol 'n': expected a range from 0 on, but got -1 to 8");
  EXPECT_EQ(with({"n", 9, 8, 0, 0}), "symbol 'n': expected a range from 0 on, but got 9 to 8");
  EXPECT_EQ(with({"n", 0, 8, 1, 0}), "symbol 'n': dim 0 of input 1 doesn't exist");
  EXPECT_EQ(with({"n", 0, 8, 0, 1}), "symbol 'n': dim 1 of input 0 doesn't exist");
  EXPECT_EQ(with({"n", 0, 8, 0, 0, 0}), "symbol 'n': expected a scale other than 0");
}

TEST_F(PlanCheckerTest, ConditionsOnDimsThatDoNotExist) {
  plan().conditions = {{"true", Expr(0)}, {"n >= 4", Expr::dim(0, 7)}};
  EXPECT_NE(error().find("condition 'n >= 4'"), std::string::npos) << error();
  plan().conditions.pop_back();
  EXPECT_EQ(error(), "");
}

TEST_F(PlanCheckerTest, SegmentsOutOfReason) {
  plan().steps[0].segment = -1;
  EXPECT_EQ(error(), "");
  for (int32_t segment : {-2, 1 << 30}) {
    plan().steps[0].segment = segment;
    EXPECT_EQ(error(), "step 0 ('step0'): expected a segment from -1 to 4194303, but got " + std::to_string(segment));
  }
}

TEST_F(PlanCheckerTest, SizesOfDimsThatDoNotExist) {
  plan().hostCode.functions[0].sizes = {Expr(1), Expr::dim(0, 1)};
  EXPECT_EQ(error(), "host function 'f': size 1: expression reads dim 1 of input 0, which doesn't exist");
  plan().hostCode.functions[0].sizes = {};
  plan().callbacks = {{"g", 1, {Expr::dim(2, 0)}}};
  EXPECT_EQ(error(), "callback 'g': size 0: expression reads dim 0 of input 2, which doesn't exist");
}
