// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the counts of machine code and of their comparison with a baseline.

#include "GpuCompilers/KernelFigures.h"

#include "gtest/gtest.h"

using namespace inlay::bench;

TEST(IsaTest, CountsTheWholeTextWithoutALoop) {
  IsaCounts counts = countHotLoop("BB0:\n"
                                  "\tv_add_f32_e32 v0, v1, v2      ; 06000501\n"
                                  "\tv_add_nc_u32_e32 v0, v1, v2   ; 4a000501\n"
                                  "\ts_endpgm                      ; bf810000\n");
  EXPECT_EQ(counts.instructions, 3);
  EXPECT_EQ(counts.vector, 2);
  EXPECT_EQ(counts.arithmetic, 1);
  EXPECT_EQ(counts.integer, 1);
  EXPECT_EQ(counts.scalar, 1);
}

TEST(IsaTest, ChoosesTheInnermostLoopWithTheMostMath) {
  IsaCounts counts = countHotLoop("BB0:\n"
                                  "\tv_fma_f32 v0, v1, v2, v3\n"
                                  "BB1:\n"
                                  "\tv_fma_f32 v0, v1, v2, v3\n"
                                  "BB2:\n"
                                  "\tv_add_nc_u32_e32 v0, v1, v2\n"
                                  "\tv_add_nc_u32_e32 v0, v1, v2\n"
                                  "\ts_cbranch_scc1 BB2\n"
                                  "BB3:\n"
                                  "\tv_fmac_f32_e32 v0, v1, v2\n"
                                  "\ts_cbranch_scc1 BB3\n"
                                  "\ts_branch BB1\n"
                                  "\ts_cbranch_scc0 BB4\n"
                                  "BB4:\n");
  EXPECT_EQ(counts.fma, 1);
  EXPECT_EQ(counts.instructions, 2);
}

TEST(IsaTest, CountsTheWholeTextIfTheLoopOfMatricesWasUnrolled) {
  IsaCounts counts = countHotLoop("\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n"
                                  "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n"
                                  "BB1:\n"
                                  "\tv_fma_f32 v0, v1, v2, v3\n"
                                  "\ts_cbranch_scc1 BB1\n");
  EXPECT_EQ(counts.matrix, 2);
  EXPECT_EQ(counts.fma, 1);
}

TEST(IsaTest, CountsBytesOfLoadsByWidth) {
  IsaCounts counts = countHotLoop("\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen\n"
                                  "\tbuffer_load_b128 v[0:3], v4, s[0:3], 0 offen\n"
                                  "\tglobal_load_dword v0, v[1:2], off\n"
                                  "\tbuffer_load_ushort v0, v4, s[0:3], 0 offen\n"
                                  "\tbuffer_load_u8 v0, v4, s[0:3], 0 offen\n"
                                  "\tds_read2_b64 v[0:3], v4\n"
                                  "\tds_load_u16_d16 v0, v4\n"
                                  "\tds_write_b128 v4, v[0:3]\n"
                                  "\tbuffer_store_b128 v[0:3], v4, s[0:3], 0 offen\n"
                                  "\ts_buffer_load_dwordx8 s[0:7], s[0:3], null\n");
  EXPECT_EQ(counts.loads, 5);
  EXPECT_EQ(counts.loadBytes, 16 + 16 + 4 + 2 + 1);
  EXPECT_EQ(counts.sharedReads, 2);
  EXPECT_EQ(counts.sharedReadBytes, 16 + 2);
  EXPECT_EQ(counts.narrowLoads, 3);
  EXPECT_EQ(counts.sharedWrites, 1);
  EXPECT_EQ(counts.stores, 1);
  EXPECT_EQ(counts.scalarLoads, 1);
}

TEST(IsaTest, CountsBothOperationsOfADualInstruction) {
  IsaCounts counts = countHotLoop("\tv_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5\n"
                                  "\tv_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5\n"
                                  "\tv_pk_fma_f16 v0, v1, v2, v3\n"
                                  "\tv_fma_mix_f32 v0, v1, v2, v3\n"
                                  "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n");
  EXPECT_EQ(counts.vector, 5);
  EXPECT_EQ(counts.fma, 3 + 2 + 1);
  EXPECT_EQ(counts.arithmetic, 1);
  EXPECT_EQ(counts.matrix, 1);
}

TEST(IsaTest, CountsFullWaitsOnly) {
  IsaCounts counts = countHotLoop("\ts_waitcnt vmcnt(0) lgkmcnt(1)\n"
                                  "\ts_waitcnt vmcnt(3)\n"
                                  "\ts_wait_loadcnt 0x0\n"
                                  "\ts_barrier\n");
  EXPECT_EQ(counts.fullWaits, 2);
  EXPECT_EQ(counts.barriers, 1);
  EXPECT_EQ(counts.scalar, 0);
}

TEST(IsaTest, AcceptsEmptyText) { EXPECT_EQ(countHotLoop("").instructions, 0); }

static KernelFigures makeKernel(const std::string &name) {
  KernelFigures kernel;
  kernel.chip = "navi21";
  kernel.kernel = name;
  kernel.vectorRegisters = 100;
  kernel.loop.vector = 100;
  kernel.loop.fma = 80;
  kernel.loop.loadBytes = 40;
  return kernel;
}

TEST(KernelFiguresTest, SurviveJson) {
  KernelFigures kernel = makeKernel("product/0");
  kernel.spills = 3;
  auto read = readFigures(toJson(kernel));
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(read->kernel, "product/0");
  EXPECT_EQ(read->spills, 3);
  EXPECT_EQ(read->loop.loadBytes, 40);
}

TEST(KernelFiguresTest, NamesAMissingFigure) {
  llvm::json::Object object = toJson(makeKernel("product/0"));
  object.erase("spills");
  EXPECT_EQ(readFigures(object).status().message(), "product/0 on navi21: expected the integer 'spills'");
}

TEST(KernelFiguresTest, EqualAndBetterKernelsAreNoRegression) {
  KernelFigures before = makeKernel("product/0"), after = before;
  after.vectorRegisters = 90;
  after.loop.fma = 90;
  EXPECT_TRUE(findRegressions({before}, {before}).empty());
  EXPECT_TRUE(findRegressions({before}, {after}).empty());
}

TEST(KernelFiguresTest, SpillsAreARegressionAtOnceButRegistersHaveATolerance) {
  KernelFigures before = makeKernel("product/0"), after = before;
  after.spills = 1;
  after.vectorRegisters = 105;
  EXPECT_EQ(findRegressions({before}, {after}),
            std::vector<std::string>{"product/0 on navi21: spills grew from 0 to 1"});
  after.spills = 0;
  after.vectorRegisters = 106;
  EXPECT_EQ(findRegressions({before}, {after}),
            std::vector<std::string>{"product/0 on navi21: vgprs grew from 100 to 106"});
}

TEST(KernelFiguresTest, FewerFusedOperationsAndMoreBytesAreRegressions) {
  KernelFigures before = makeKernel("product/0"), after = before;
  after.loop.fma = 40;
  EXPECT_EQ(findRegressions({before}, {after}),
            (std::vector<std::string>{"product/0 on navi21: fma_share fell from 0.800 to 0.400",
                                      "product/0 on navi21: bytes_per_math grew from 0.500 to 1.000"}));
}

TEST(KernelFiguresTest, KernelsOfOneSideOnlyAreRegressions) {
  KernelFigures otherChip = makeKernel("product/2");
  otherChip.chip = "vega10";
  EXPECT_EQ(findRegressions({makeKernel("product/0"), otherChip}, {makeKernel("product/1")}),
            (std::vector<std::string>{"product/1 on navi21: not in the baseline",
                                      "product/0 on navi21: only in the baseline"}));
}
