// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the loops of a kernel by its backward branches, and classifies instructions by their names.

#include "Isa.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <tuple>

using namespace inlay::bench;
using llvm::StringRef;

namespace {
struct Instruction {
  StringRef name, text;
};

/// The instructions `first` to `last`, both included.
struct Loop {
  size_t first, last;

  bool contains(const Loop &other) const {
    return first <= other.first && last >= other.last && (first != other.first || last != other.last);
  }
};

struct Program {
  llvm::SmallVector<Instruction> instructions;
  llvm::SmallVector<Loop> loops; ///< By their first instruction.
};
} // namespace

static bool startsWithAny(StringRef name, llvm::ArrayRef<StringRef> starts) {
  return llvm::any_of(starts, [&](StringRef start) { return name.starts_with(start); });
}

static bool containsAny(StringRef name, llvm::ArrayRef<StringRef> parts) {
  return llvm::any_of(parts, [&](StringRef part) { return name.contains(part); });
}

/// Adds the loop of a branch back to `first`. Branches to the same label belong to one loop.
static void addLoop(Program &program, Loop loop) {
  for (Loop &known : program.loops)
    if (known.first == loop.first) {
      known.last = std::max(known.last, loop.last);
      return;
    }
  program.loops.push_back(loop);
}

static Program parse(StringRef assembly) {
  Program program;
  llvm::StringMap<size_t> labels;
  for (StringRef line : llvm::split(assembly, '\n')) {
    line = line.split(';').first.split("//").first.trim();
    if (line.consume_back(":")) {
      labels[line] = program.instructions.size();
      continue;
    }
    StringRef name = line.split(' ').first;
    if (!name.contains('_'))
      continue;
    program.instructions.push_back({name, line});
    auto target = labels.find(line.rsplit(' ').second);
    if (name.contains("branch") && target != labels.end())
      addLoop(program, {target->second, program.instructions.size() - 1});
  }
  return program;
}

/// Returns the bytes that an invocation loads or stores, by the end of the name: b128, dwordx4, dword, u16, ubyte, ...
static int64_t findBytes(StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, int64_t> sizes[] = {
      {"b512", 64},    {"b256", 32},    {"b128", 16},    {"b96", 12},    {"b64", 8},   {"dwordx16", 64},
      {"dwordx8", 32}, {"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8}, {"dword", 4}, {"d16_xyzw", 8},
      {"d16_xyz", 6},  {"d16_xy", 4},   {"xyzw", 16},    {"xyz", 12},    {"xy", 8},    {"_u8", 1},
      {"_i8", 1},      {"_b8", 1},      {"byte", 1},     {"short", 2},   {"16", 2}};
  for (auto [part, bytes] : sizes)
    if (name.contains(part))
      return bytes;
  return 4;
}

static void countVector(StringRef name, IsaCounts &counts) {
  if (name.contains("wmma") || name.contains("mfma"))
    ++counts.matrix;
  else if (containsAny(name, {"fma_mix", "mad_mix"}) || startsWithAny(name, {"v_dot", "v_fma", "v_mac_f", "v_mad_f"}))
    ++counts.fma;
  else if (startsWithAny(name, {"v_pk_fma", "v_pk_mad_f"}))
    counts.fma += 2;
  else if (containsAny(name, {"readlane", "readfirstlane", "permlane", "writelane", "_dpp"}))
    ++counts.lane;
  else if (startsWithAny(name, {"v_add_f", "v_sub_f", "v_subrev_f", "v_mul_f", "v_mul_legacy", "v_max_f", "v_min_f",
                                "v_max3_f", "v_min3_f", "v_exp", "v_log", "v_rcp", "v_rsq", "v_sqrt", "v_sin", "v_cos",
                                "v_div", "v_ldexp"}))
    ++counts.arithmetic;
  else if (startsWithAny(name, {"v_pk_add_f", "v_pk_mul_f", "v_pk_max_f", "v_pk_min_f"}))
    counts.arithmetic += 2;
  else if (!startsWithAny(name, {"v_mov", "v_cvt", "v_cndmask", "v_cmp", "v_nop", "v_accvgpr", "v_swap"}))
    ++counts.integer;
}

/// Counts the two operations of `v_dual_fmac_f32 a, b, c :: v_dual_mov_b32 d, e`.
static void countDual(StringRef text, IsaCounts &counts) {
  for (StringRef half : {text.split("::").first.trim(), text.split("::").second.trim()}) {
    half.consume_front("v_dual_");
    countVector(("v_" + half.split(' ').first).str(), counts);
  }
}

static void countMemory(StringRef name, IsaCounts &counts) {
  int64_t bytes = findBytes(name);
  if (name.starts_with("ds_")) {
    if (containsAny(name, {"permute", "swizzle"}))
      ++counts.lane;
    else if (containsAny(name, {"read", "load"})) {
      ++counts.sharedReads;
      counts.sharedReadBytes += bytes * (containsAny(name, {"read2", "load_2", "2addr"}) ? 2 : 1);
      counts.narrowLoads += bytes < 4;
    } else {
      ++counts.sharedWrites;
    }
  } else if (name.contains("load")) {
    ++counts.loads;
    counts.loadBytes += bytes;
    counts.narrowLoads += bytes < 4;
  } else {
    ++counts.stores;
  }
}

/// Returns true if a wait is for all loads of buffers.
static bool isFullWait(const Instruction &instruction) {
  return (instruction.name == "s_waitcnt" && instruction.text.contains("vmcnt(0)")) ||
         (instruction.name == "s_wait_loadcnt" && instruction.text.ends_with("0x0"));
}

static void count(const Instruction &instruction, IsaCounts &counts) {
  StringRef name = instruction.name;
  ++counts.instructions;
  if (name.starts_with("v_")) {
    ++counts.vector;
    if (name.starts_with("v_dual_"))
      countDual(instruction.text, counts);
    else
      countVector(name, counts);
  } else if (startsWithAny(name, {"buffer_", "global_", "flat_", "scratch_", "tbuffer_", "ds_"})) {
    countMemory(name, counts);
  } else if (startsWithAny(name, {"s_load", "s_buffer_load"})) {
    ++counts.scalarLoads;
  } else if (name.starts_with("s_barrier")) {
    ++counts.barriers;
  } else if (name.starts_with("s_wait")) {
    counts.fullWaits += isFullWait(instruction);
  } else if (!startsWithAny(name, {"s_delay_alu", "s_nop", "s_clause", "s_inst_prefetch", "s_set_inst_prefetch"})) {
    ++counts.scalar;
  }
}

IsaCounts inlay::bench::countHotLoop(StringRef assembly) {
  Program program = parse(assembly);
  auto countRange = [&](const Loop &range) {
    IsaCounts counts;
    for (size_t i = range.first; i <= range.last; ++i)
      count(program.instructions[i], counts);
    return counts;
  };
  if (program.instructions.empty())
    return {};
  IsaCounts whole = countRange({0, program.instructions.size() - 1}), hottest;
  for (const Loop &loop : program.loops) {
    if (llvm::any_of(program.loops, [&](const Loop &other) { return loop.contains(other); }))
      continue;
    IsaCounts counts = countRange(loop);
    if (std::tuple(counts.countMath(), counts.instructions) > std::tuple(hottest.countMath(), hottest.instructions))
      hottest = counts;
  }
  bool isUnrolled = whole.matrix && !hottest.matrix;
  return program.loops.empty() || isUnrolled ? whole : hottest;
}
