// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that relocations change the bits that the ABIs define and refuse targets out of reach. The expected
// instructions are those of an assembler.

#include "Runtime/Host/Linker/Relocation.h"
#include "Runtime/Host/Linker/Imports.h"
#include "inlay/Runtime/Host/HalfFloats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <elf.h>

using namespace inlay::rt;
using namespace inlay::rt::host;

namespace {

template <typename T>
struct Patched {
  Status status;
  T word;
};

template <typename T>
Patched<T> patch(uint16_t machine, uint32_t type, T word, uint64_t place, uint64_t target, int64_t addend) {
  Status status = relocate(machine, type, reinterpret_cast<char *>(&word), sizeof(T), place, target, addend);
  return {status, word};
}

TEST(RelocationX86, wordsAreSumsAndDifferences) {
  EXPECT_EQ(patch<uint64_t>(EM_X86_64, R_X86_64_64, 0, 0x1000, 0x7f0012345678, 8).word, 0x7f0012345680u);
  EXPECT_EQ(patch<uint64_t>(EM_X86_64, R_X86_64_PC64, 0, 0x3000, 0x1000, -4).word, uint64_t(-0x2004));
  EXPECT_EQ(patch<uint32_t>(EM_X86_64, R_X86_64_PC32, 0, 0x1000, 0x3000, -4).word, 0x1ffcu);
  EXPECT_EQ(patch<uint32_t>(EM_X86_64, R_X86_64_PLT32, 0, 0x3000, 0x1000, -4).word, uint32_t(-0x2004));
  EXPECT_EQ(patch<uint32_t>(EM_X86_64, R_X86_64_REX_GOTPCRELX, 0, 0x1000, 0x2000, -4).word, 0xffcu);
}

TEST(RelocationX86, rangesAreChecked) {
  EXPECT_TRUE(patch<uint32_t>(EM_X86_64, R_X86_64_PC32, 0, 0, 0x7fffffff, 0).status.isOk());
  EXPECT_FALSE(patch<uint32_t>(EM_X86_64, R_X86_64_PC32, 0, 0, 0x80000000, 0).status.isOk());
  EXPECT_TRUE(patch<uint32_t>(EM_X86_64, R_X86_64_PC32, 0, 0x80000000, 0, 0).status.isOk());
  EXPECT_FALSE(patch<uint32_t>(EM_X86_64, R_X86_64_PC32, 0, 0x80000001, 0, 0).status.isOk());
  EXPECT_TRUE(patch<uint32_t>(EM_X86_64, R_X86_64_32, 0, 0, 0xffffffff, 0).status.isOk());
  EXPECT_FALSE(patch<uint32_t>(EM_X86_64, R_X86_64_32S, 0, 0, 0xffffffff, 0).status.isOk());
  EXPECT_EQ(patch<uint32_t>(EM_X86_64, R_X86_64_64, 0, 0, 0, 0).status.message(),
            "a relocation of type 1 exceeds its section");
  EXPECT_EQ(patch<uint32_t>(EM_X86_64, R_X86_64_TPOFF32, 0, 0, 0, 0).status.message(),
            "expected no relocation of type 23");
}

TEST(RelocationAarch64, pagesAndOffsetsIntoThem) {
  // adrp x0, 0x12345000 at 0x1000; add x0, x0, #0x678; ldr d0, [x0, #0x678]; ldr q0, [x0, #0x670]
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x1234, 0x12345678, 0).word,
            0x90091a20u);
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0, 0x12345670, 8).word, 0x9119e000u);
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0xfd400000, 0, 0x12345678, 0).word, 0xfd433c00u);
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0, 0x12345670, 0).word, 0x3dc19c00u);
  EXPECT_FALSE(patch<uint32_t>(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0xfd400000, 0, 0x12345671, 0).status.isOk());
  EXPECT_FALSE(
      patch<uint32_t>(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0, uint64_t(1) << 33, 0).status.isOk());
}

TEST(RelocationAarch64, branches) {
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_CALL26, 0x94000000, 0x1000, 0x2000, 0).word, 0x94000400u);
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_JUMP26, 0x14000000, 0x2000, 0x1000, 0).word, 0x17fffc00u);
  EXPECT_FALSE(patch<uint32_t>(EM_AARCH64, R_AARCH64_CALL26, 0x94000000, 0, 0x8000000, 0).status.isOk());
  EXPECT_EQ(patch<uint32_t>(EM_AARCH64, R_AARCH64_PREL32, 0, 0x1000, 0x3000, 0).word, 0x2000u);
}

TEST(RelocationAarch64, stubsJumpWhereTheWordSays) {
  uint32_t stub[4] = {};
  ASSERT_TRUE(makeStub(EM_AARCH64, reinterpret_cast<char *>(stub), 0x1000, 0x5018).isOk());
  EXPECT_EQ(stub[0], 0x90000030u | 0x0u); // adrp x16, #0x4000
  EXPECT_EQ(stub[1], 0xf9400e10u);        // ldr x16, [x16, #0x18]
  EXPECT_EQ(stub[2], 0xd61f0200u);        // br x16
}

TEST(Imports, areAFixedList) {
  EXPECT_NE(findImport("sinf"), 0u);
  EXPECT_NE(findImport("memcpy"), 0u);
  EXPECT_NE(findImport("__truncsfhf2"), 0u);
  EXPECT_EQ(findImport("system"), 0u);
  EXPECT_EQ(findImport("dlopen"), 0u);
  EXPECT_EQ(findImport(""), 0u);
  auto function = reinterpret_cast<double (*)(double, double)>(findImport("pow"));
  EXPECT_EQ(function(2, 10), 1024);
}

TEST(HalfFloats, allHalvesSurvive) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float half = halfToFloat(static_cast<uint16_t>(bits)), bfloat = bfloatToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(half))
      EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(half))));
    else
      EXPECT_EQ(floatToHalf(half), bits);
    if (std::isnan(bfloat))
      EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(bfloat))));
    else
      EXPECT_EQ(floatToBfloat(bfloat), bits);
  }
}

TEST(HalfFloats, roundToTheNearestAndTiesToEven) {
  EXPECT_EQ(floatToHalf(1.0f + 0x1p-11f), 0x3c00);            // a tie, down to even
  EXPECT_EQ(floatToHalf(1.0f + 3 * 0x1p-11f), 0x3c02);        // a tie, up to even
  EXPECT_EQ(floatToHalf(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01); // above the tie
  EXPECT_EQ(doubleToHalf(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);   // not rounded to a float first
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00); // infinity
  EXPECT_EQ(floatToHalf(-1e10f), 0xfc00);
  EXPECT_EQ(floatToHalf(0x1p-25f), 0); // a tie, down to zero
  EXPECT_EQ(floatToHalf(0x1.8p-25f), 1);
  EXPECT_EQ(floatToHalf(0x1.ffcp-15f), 0x0400); // up to the smallest normal number
  EXPECT_EQ(floatToBfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(floatToBfloat(3.4e38f), 0x7f80);
  EXPECT_EQ(floatToBfloat(-0.0f), 0x8000);
}

} // namespace
