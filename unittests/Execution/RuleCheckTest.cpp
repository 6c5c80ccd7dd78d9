// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that the rule check finds wrong rules. The rules of the libraries get one random change each, and the check
// must reject the rules that no longer hold. Harmless changes are listed here with the reasons.

#include "inlay/Rewrite/RuleCheck.h"
#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Execution/HostRunner.h"
#include "inlay/Rewrite/Library.h"

#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace inlay;
using namespace mlir;

namespace {

class RuleCheckTest : public ::testing::Test {
protected:
  RuleCheckTest() : context(makeRewriteRegistry()) {
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    runner = GraphRunner::get(&context);
  }

  RuleVerdict check(const std::string &text, RuleCheckOptions options = {}) {
    RewritePatternManager manager;
    if (llvm::Error error = manager.addPDL(text, "rule.pdl.mlir", &context))
      return {RuleVerdict::Invalid, llvm::toString(std::move(error)), ""};
    RuleChecker checker(*runner, options);
    StringRef label = manager.getLabels().front();
    return checker.checkPattern(*manager.get(label), label);
  }

  MLIRContext context;
  const GraphRunner *runner = nullptr;
};

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

//===-- Mutations -----------------------------------------------------------------------------------------------===//

/// A change of a pattern and its description.
struct Mutation {
  std::function<void()> apply;
  std::string what;
};

constexpr StringLiteral kUnary[] = {"inlay.abs",     "inlay.exp",  "inlay.neg",  "inlay.relu",
                                    "inlay.sigmoid", "inlay.silu", "inlay.sqrt", "inlay.rsqrt",
                                    "inlay.tanh",    "inlay.erf",  "inlay.gelu"};
constexpr StringLiteral kBinary[] = {"inlay.add", "inlay.sub", "inlay.mul", "inlay.div", "inlay.maximum"};
constexpr StringLiteral kReductions[] = {"inlay.mean", "inlay.sum", "inlay.amax"};

std::vector<std::string> getOthers(StringRef name) {
  std::vector<std::string> others;
  for (ArrayRef<StringLiteral> family : {ArrayRef(kUnary), ArrayRef(kBinary), ArrayRef(kReductions)})
    if (llvm::is_contained(family, name))
      for (StringRef other : family)
        if (other != name)
          others.push_back(other.str());
  return others;
}

bool commutes(pdl::OperationOp op) {
  auto name = RegisteredOperationName::lookup(*op.getOpName(), op.getContext());
  return op.getOperandValues().size() == 2 && name && name->hasTrait<OpTrait::IsCommutative>();
}

void addOpMutations(pdl::OperationOp op, std::vector<Mutation> &mutations) {
  std::string name = op.getOpName()->str(), side = isa<pdl::PatternOp>(op->getParentOp()) ? "match" : "replacement";
  for (const std::string &other : getOthers(name))
    mutations.push_back({[op, other]() mutable { op.setOpName(other); }, side + ": " + name + " -> " + other});
  ValueRange operands = op.getOperandValues();
  for (unsigned i = 0; i + 1 < operands.size(); ++i)
    if (operands[i] != operands[i + 1] && !commutes(op))
      mutations.push_back({[op, i]() mutable {
                             Value first = op.getOperandValues()[i];
                             op->setOperand(i, op.getOperandValues()[i + 1]);
                             op->setOperand(i + 1, first);
                           },
                           side + ": operands " + std::to_string(i) + " and " + std::to_string(i + 1) + " of " + name});
}

/// Replaces an operand that the replacement uses by another operand of the pattern.
void addOperandMutations(pdl::PatternOp pattern, Operation *user, std::vector<Mutation> &mutations) {
  for (OpOperand &use : user->getOpOperands()) {
    if (!use.get().getDefiningOp<pdl::OperandOp>())
      continue;
    for (auto other : pattern.getBody()->getOps<pdl::OperandOp>())
      if (other.getValue() != use.get())
        mutations.push_back(
            {[user, number = use.getOperandNumber(), other]() mutable { user->setOperand(number, other.getValue()); },
             "replacement: operand " + std::to_string(use.getOperandNumber()) + " of " +
                 user->getName().getStringRef().str() + " is another"});
  }
}

Attribute changeNumber(Attribute attribute) {
  Builder builder(attribute.getContext());
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return FloatAttr::get(real.getType(), real.getValueAsDouble() * 1.25 + 0.125);
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return IntegerAttr::get(integer.getType(), integer.getValue() + 1);
  if (auto dims = dyn_cast<DenseI64ArrayAttr>(attribute); dims && dims.size() > 1) {
    SmallVector<int64_t> swapped(dims.asArrayRef());
    std::swap(swapped[0], swapped[1]);
    return builder.getDenseI64ArrayAttr(swapped);
  }
  return {};
}

std::vector<Mutation> getMutations(pdl::PatternOp pattern) {
  std::vector<Mutation> mutations;
  pattern->walk([&](Operation *op) {
    bool replaces = op->getParentOp() == pattern.getRewriter();
    if (auto operation = dyn_cast<pdl::OperationOp>(op))
      addOpMutations(operation, mutations);
    if (replaces && isa<pdl::OperationOp, pdl::ReplaceOp>(op))
      addOperandMutations(pattern, op, mutations);
    if (auto constraint = dyn_cast<pdl::ApplyNativeConstraintOp>(op); constraint && op->getNumResults() == 0)
      mutations.push_back({[op] { op->erase(); }, "match: without " + constraint.getName().str()});
    if (auto attribute = dyn_cast<pdl::AttributeOp>(op); attribute && attribute.getValueAttr())
      if (Attribute other = changeNumber(attribute.getValueAttr()))
        mutations.push_back(
            {[attribute, other]() mutable { attribute.setValueAttr(other); }, "constant " + print(attribute)});
  });
  return mutations;
}

/// A change after which the rule still holds, judged by hand. Any other change that is not rejected counts as missed.
struct Harmless {
  StringRef rule, what, why;
};

constexpr Harmless kHarmless[] = {
    {"mul_one", "inlay.mul -> inlay.div", "x / 1 is x"},
    {"div_one", "inlay.div -> inlay.mul", "x * 1 is x"},
    {"add_zero", "inlay.add -> inlay.sub", "x - 0 is x"},
    {"sub_zero", "inlay.sub -> inlay.add", "x + 0 is x"},
    {"relu_of_relu", "inlay.relu -> inlay.abs", "neither changes the other's results"},
    {"relu_of_relu", "inlay.relu -> inlay.exp", "relu changes no exponential"},
    {"relu_of_relu", "inlay.relu -> inlay.sigmoid", "relu changes no probability"},
    {"relu_of_relu", "inlay.relu -> inlay.sqrt", "relu changes no root"},
    {"relu_of_relu", "inlay.relu -> inlay.rsqrt", "relu changes no root"},
    {"linear", "without rank", "the permutation of two dims says so, too"},
};

bool isHarmless(StringRef rule, StringRef what) {
  return llvm::any_of(kHarmless,
                      [&](const Harmless &harmless) { return harmless.rule == rule && what.contains(harmless.what); });
}

struct Tally {
  unsigned differs = 0, invalid = 0, unmatched = 0, harmless = 0;
  std::vector<std::string> missed;

  unsigned refused() const { return differs + invalid; }
};

TEST_F(RuleCheckTest, RefusesBrokenRules) {
  ASSERT_NE(runner, nullptr);
  bool full = std::getenv("INLAY_FULL") != nullptr;
  std::mt19937_64 random(7);
  Tally tally;
  RewritePatternManager meanings;
  ASSERT_FALSE(static_cast<bool>(addLibrary(meanings, "expansions", &context)));
  RuleCheckOptions options;
  options.meanings = &meanings;
  for (const RuleLibrary &library : getRuleLibraries()) {
    if (library.name == "expansions") // There is nothing to check the meaning of plugins against.
      continue;
    auto module = parseSourceString<ModuleOp>(library.text, &context);
    ASSERT_TRUE(module);
    std::vector<std::string> rules;
    module->walk([&](pdl::PatternOp pattern) { rules.push_back(print(pattern)); });
    for (const std::string &rule : rules) {
      auto original = parseSourceString<ModuleOp>(rule, &context);
      std::vector<size_t> numbers(getMutations(*original->getOps<pdl::PatternOp>().begin()).size());
      std::iota(numbers.begin(), numbers.end(), 0);
      for (size_t i = numbers.size(); i > 1; --i)
        std::swap(numbers[i - 1], numbers[random() % i]);
      numbers.resize(std::min<size_t>(numbers.size(), full ? 12 : 3));
      for (size_t number : numbers) {
        auto copy = parseSourceString<ModuleOp>(rule, &context);
        pdl::PatternOp pattern = *copy->getOps<pdl::PatternOp>().begin();
        Mutation mutation = getMutations(pattern)[number];
        std::string label = pattern.getSymName()->str();
        mutation.apply();
        RuleVerdict verdict = check(print(pattern), options);
        tally.differs += verdict.kind == RuleVerdict::Differs;
        tally.invalid += verdict.kind == RuleVerdict::Invalid || verdict.kind == RuleVerdict::CantRun;
        tally.unmatched += verdict.kind == RuleVerdict::NoInstance;
        if (!verdict.holds())
          continue;
        if (isHarmless(label, mutation.what))
          ++tally.harmless;
        else
          tally.missed.push_back(label + ": " + mutation.what);
      }
    }
  }
  std::printf("refused %u (%u by a counterexample), matching nothing %u, harmless %u, missed %zu\n", tally.refused(),
              tally.differs, tally.unmatched, tally.harmless, tally.missed.size());
  for (const std::string &missed : tally.missed)
    std::printf("missed: %s\n", missed.c_str());
  EXPECT_GE(tally.refused(), 0.95 * (tally.refused() + tally.missed.size()));
}

} // namespace
