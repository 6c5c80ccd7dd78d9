// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the whole phase on random programs with every strategy. Verification must succeed, the segments must compute the
// same as the program, and inlining must restore the program.

#include "CompareFunctions.h"
#include "Interpreter.h"
#include "RandomProgram.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Partition/Partitioning.h"
#include "inlay/Partition/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace inlay;
using namespace inlay::testing;

namespace {
struct Totals {
  size_t segments = 0, accelerated = 0, ops = 0;
  bool operator==(const Totals &other) const {
    return segments == other.segments && accelerated == other.accelerated && ops == other.ops;
  }
};

class PartitionPropertyTest : public ::testing::Test {
protected:
  PartitionPropertyTest() {
    context.loadDialect<InlayDialect, arith::ArithDialect, func::FuncDialect, memref::MemRefDialect, scf::SCFDialect>();
    context.disableMultithreading();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(diagnostics) << diagnostic << "\n";
      return success();
    });
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) { return parseSourceString<ModuleOp>(text, &context); }

  static func::FuncOp getMain(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, OpPrintingFlags().enableDebugInfo().useLocalScope());
    return text;
  }

  LogicalResult dissolve(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(createInlineSegmentsPass());
    return manager.run(module);
  }

  static Totals count(ModuleOp module) {
    Totals totals;
    for (const SegmentedBlock &segment : getSegmentedBlocks(getMain(module))) {
      ++totals.segments;
      totals.accelerated += segment.isAccelerated;
      totals.ops += segment.isAccelerated ? segment.ops.size() : 0;
    }
    return totals;
  }

  /// Partitions the program and inlines the segments. Returns a message about the first problem, or an empty string.
  std::string check(const std::string &text, const PartitionInfo &info) {
    diagnostics.clear();
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module)
      return "not parsed: " + diagnostics;
    std::vector<std::string> before = describeGraph(getMain(*module));
    uint64_t meaning = interpret(getMain(*module));
    if (failed(partition(*module, info)) || !diagnostics.empty())
      return "not partitioned: " + diagnostics + print(*module);
    std::string partitioned = print(*module);
    if (interpret(getMain(*module)) != meaning)
      return "partitioned, means something else: " + partitioned;
    if (failed(dissolve(*module)) || failed(verify(*module)))
      return "not dissolved: " + diagnostics + partitioned;
    std::vector<std::string> after = describeGraph(getMain(*module)), differences;
    std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                  std::back_inserter(differences));
    if (before != after)
      return "dissolved, differs: " + llvm::join(differences, "\n") + "\n" + partitioned + print(*module);
    if (interpret(getMain(*module)) != meaning)
      return "dissolved, means something else: " + partitioned + print(*module);
    return "";
  }

  MLIRContext context;
  std::string diagnostics;
};

RandomProgramOptions makeOptions(uint32_t seed) {
  RandomProgramOptions options;
  options.seed = seed;
  options.targets = 2 + seed % 3;
  options.ops = 6 + seed / 3 % 30;
  options.reach = 2 + seed % 7;
  options.hasEffects = seed % 4 != 0;
  options.hasCollections = seed % 5 != 0;
  options.hasRegions = seed % 3 != 0;
  options.hasPins = seed % 7 == 0;
  return options;
}

unsigned countPrograms(unsigned sample, unsigned full) { return std::getenv("INLAY_FULL") ? full : sample; }
} // namespace

TEST_F(PartitionPropertyTest, KeepsMeaningAndDissolves) {
  constexpr Strategy kStrategies[] = {Strategy::Levels, Strategy::InOrder, Strategy::TorchTensorRT};
  std::string shortest, problem;
  unsigned failures = 0;
  for (unsigned seed = 0; seed < countPrograms(600, 10000); ++seed) {
    std::string text = makeRandomProgram(makeOptions(seed));
    PartitionInfo info;
    info.strategy = kStrategies[seed % std::size(kStrategies)];
    info.minBlockSize = seed % 2 ? 1 : 1 + seed / 2 % 4;
    info.fewestBytes = seed % 11 == 0;
    std::string found = check(text, info);
    if (found.empty())
      continue;
    ++failures;
    if (shortest.empty() || text.size() < shortest.size()) {
      shortest = text;
      problem = "seed " + std::to_string(seed) + ": " + found;
    }
  }
  EXPECT_EQ(failures, 0u) << "the shortest:\n" << shortest << problem;
}

TEST_F(PartitionPropertyTest, GivesTheSameEachTime) {
  for (unsigned seed = 0; seed < countPrograms(10, 200); ++seed) {
    std::string text = makeRandomProgram(makeOptions(1000 + seed)), first;
    for (unsigned run = 0; run < 20; ++run) {
      OwningOpRef<ModuleOp> module = parse(text);
      ASSERT_TRUE(module) << diagnostics;
      ASSERT_TRUE(succeeded(partition(*module, PartitionInfo()))) << diagnostics;
      std::string printed = print(*module);
      ASSERT_TRUE(first.empty() || printed == first) << "seed " << seed;
      first = printed;
    }
  }
}

/// Shuffles the ops of a block in a way that their uses allow. Ops with effects keep their order.
static void reorder(Block &block, std::mt19937 &random) {
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> missing;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> after;
  Operation *effect = nullptr;
  auto addEdge = [&](Operation *before, Operation *op) {
    after[before].push_back(op);
    ++missing[op];
  };
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    bool touches = op.getNumRegions() > 0 || !(isMemoryEffectFree(&op) || isa<OpaqueOp>(op));
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *definer = operand.getDefiningOp(); definer && definer->getBlock() == &block && definer != &op)
          addEdge(definer, &op);
    });
    if (auto opaque = dyn_cast<OpaqueOp>(op))
      touches |= opaque.getWrites().has_value() || opaque.getAliases().has_value();
    if (!touches)
      continue;
    if (effect)
      addEdge(effect, &op);
    effect = &op;
  }
  std::vector<Operation *> ready;
  llvm::copy_if(ops, std::back_inserter(ready), [&](Operation *op) { return missing.lookup(op) == 0; });
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    Operation *op = ready.back();
    ready.pop_back();
    op->moveBefore(block.getTerminator());
    for (Operation *next : after.lookup(op))
      if (--missing[next] == 0)
        ready.push_back(next);
  }
}

TEST_F(PartitionPropertyTest, CountsTheSameInAnyOrder) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < countPrograms(100, 2000); ++seed) {
    RandomProgramOptions options = makeOptions(seed);
    options.targets = 2;
    options.hasEffects = options.hasRegions = options.hasPins = false; // With isolated ops the total is a heuristic.
    std::string text = makeRandomProgram(options);
    SCOPED_TRACE(text);
    OwningOpRef<ModuleOp> module = parse(text), other = parse(text);
    ASSERT_TRUE(module && other);
    reorder(getMain(*other).front(), random);
    ASSERT_TRUE(succeeded(verify(*other)));
    ASSERT_TRUE(succeeded(partition(*module, PartitionInfo()))) << diagnostics;
    ASSERT_TRUE(succeeded(partition(*other, PartitionInfo()))) << diagnostics;
    Totals a = count(*module), b = count(*other);
    ASSERT_EQ(a, b) << "seed " << seed << ": " << a.segments << " " << a.accelerated << " " << a.ops << ", reordered "
                    << b.segments << " " << b.accelerated << " " << b.ops << "\n"
                    << print(*module) << print(*other);
  }
}

static const char *const kHead = "!t = tensor<4xf32>\n!l = !inlay.list<!t>\nmodule attributes {inlay.targets = ["
                                 "#inlay.declared<\"npu\", [\"f\", \"prim::ListConstruct\", \"aten::append\"]>, "
                                 "#inlay.declared<\"host\", [\"*\"]>]} {\n  func.func @main(%0: !t) -> !t {\n";

/// Repeats `steps` times: a host op, a change of one list, and a reader of the list on the accelerator.
static std::string makeGrowingList(unsigned steps) {
  std::string text = kHead + std::string("    %l = inlay.opaque \"prim::ListConstruct\"(%0) : (!t) -> !l\n");
  for (unsigned i = 0; i < steps; ++i) {
    std::string n = std::to_string(3 * i), host = std::to_string(3 * i + 1), next = std::to_string(3 * i + 3);
    text += "    %" + host + " = inlay.opaque \"g\"(%" + n + ") : (!t) -> !t\n    inlay.opaque \"aten::append\"(%l, %" +
            host + ") writes [0] : (!l, !t) -> ()\n    %" + next + " = inlay.opaque \"f\"(%l, %" + host +
            ") : (!l, !t) -> !t\n";
  }
  return text + "    return %" + std::to_string(3 * steps) + " : !t\n  }\n}\n";
}

TEST_F(PartitionPropertyTest, CopiesFewOrNone) {
  for (unsigned steps : {5u, 50u, 500u}) {
    OwningOpRef<ModuleOp> module = parse(makeGrowingList(steps));
    ASSERT_TRUE(module && succeeded(partition(*module, PartitionInfo()))) << diagnostics;
    size_t clones = 0, accelerated = 0;
    for (const SegmentedBlock &segment : getSegmentedBlocks(getMain(*module))) {
      clones += segment.clones.size();
      accelerated += segment.isAccelerated;
    }
    EXPECT_EQ(accelerated > 0, steps < 100) << steps << " steps";
    EXPECT_EQ(clones > 0, steps < 100) << steps << " steps";
    EXPECT_LE(clones, 256 * steps);
  }
}

TEST_F(PartitionPropertyTest, HandlesDeepChains) {
  constexpr unsigned kDeep = 100000;
  std::string text = kHead;
  for (unsigned i = 0; i < kDeep; ++i)
    text += "    %" + std::to_string(i + 1) + " = inlay.opaque \"" + (i % 3 ? "f" : "g") + "\"(%" + std::to_string(i) +
            ") : (!t) -> !t\n";
  text += "    return %" + std::to_string(kDeep) + " : !t\n  }\n}\n";
  OwningOpRef<ModuleOp> module = parse(text);
  ASSERT_TRUE(module && succeeded(partition(*module, PartitionInfo()))) << diagnostics;
  ASSERT_TRUE(succeeded(dissolve(*module)));
  EXPECT_EQ(getMain(*module).front().getOperations().size(), kDeep + 1);
}

/// Makes pairs of ops that pass a list, with an op that must run between them. All pairs are split at once.
TEST_F(PartitionPropertyTest, BreaksManyCycles) {
  constexpr unsigned kPairs = 20000;
  std::string text = kHead;
  for (unsigned i = 0; i < kPairs; ++i) {
    std::string a = std::to_string(3 * i), b = std::to_string(3 * i + 1), c = std::to_string(3 * i + 2),
                next = std::to_string(3 * i + 3);
    text += "    %" + b + ", %l" + b + " = inlay.opaque \"f\"(%" + a + ") : (!t) -> (!t, !l)\n    %" + c +
            " = inlay.opaque \"g\"(%" + b + ") : (!t) -> !t\n    %" + next + " = inlay.opaque \"f\"(%l" + b + ", %" +
            c + ") : (!l, !t) -> !t\n";
  }
  text += "    return %" + std::to_string(3 * kPairs) + " : !t\n  }\n}\n";
  OwningOpRef<ModuleOp> module = parse(text);
  ASSERT_TRUE(module && succeeded(partition(*module, PartitionInfo()))) << diagnostics;
  EXPECT_EQ(getSegmentedBlocks(getMain(*module)).size(), 1u);
}
