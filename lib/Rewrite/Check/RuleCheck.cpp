// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs instances of a rule before and after the rewrite and reports differences. DrawInstance.cpp and CutOut.cpp
// make the instances, and TensorData.cpp has the tolerances.

#include "PatternInstance.h"
#include "TensorData.h"

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Dialect/Inlay/IR/OpNames.h"
#include "inlay/Rewrite/RewritePatternManager.h"
#include "inlay/Rewrite/RuleCheck.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace inlay;

const GraphRunner *GraphRunner::get(MLIRContext *context) {
  Dialect *dialect = context->getLoadedDialect<InlayDialect>();
  return dialect ? dialect->getRegisteredInterface<GraphRunner>() : nullptr;
}

namespace {
/// Checks one instance of a rule.
class InstanceCheck {
public:
  InstanceCheck(StringRef label, PatternInstance &instance, const GraphRunner &runner, const RuleCheckOptions &options,
                bool finite)
      : label(label), instance(instance), runner(runner), options(options), args(options.args), finite(finite) {}

  RuleVerdict run(const GraphPattern &pattern, uint64_t seed) {
    func::FuncOp before = instance.getFunction();
    OwningOpRef<ModuleOp> rewritten = instance.module->clone();
    func::FuncOp after = *(*rewritten).getOps<func::FuncOp>().begin();
    if (std::string why = apply(pattern, before, after); !why.empty())
      return {RuleVerdict::Invalid, describe("makes an invalid graph", before) + ": " + why, print(before)};
    return compareWith(*rewritten, seed);
  }

  /// Compares the instance with the graph that a pattern made of it.
  RuleVerdict compareWith(ModuleOp rewritten, uint64_t seed) {
    func::FuncOp before = instance.getFunction(), after = *rewritten.getOps<func::FuncOp>().begin();
    text = print(before) + print(after);
    std::string why;
    for (ModuleOp module : {*instance.module, rewritten})
      if (why = expand(module); !why.empty())
        return {RuleVerdict::CantRun, "pattern '" + label.str() + "' can't be checked: " + why, text};
    OwningOpRef<ModuleOp> staticBefore = specialize(before, instance.unknownSize, why),
                          staticAfter = specialize(after, instance.unknownSize, why);
    if (!staticBefore)
      return {RuleVerdict::NoInstance, "pattern '" + label.str() + "' can't be checked: " + why, text};
    if (!staticAfter)
      return {RuleVerdict::Invalid, describe("makes an invalid graph", before) + ": " + why, text};
    return compareStatic(*(*staticBefore).getOps<func::FuncOp>().begin(),
                         *(*staticAfter).getOps<func::FuncOp>().begin(), seed);
  }

private:
  RuleVerdict compareStatic(func::FuncOp before, func::FuncOp after, uint64_t seed) {
    for (auto [number, types] : llvm::enumerate(llvm::zip(before.getResultTypes(), after.getResultTypes())))
      if (auto [a, b] = types; a != b) {
        std::string message = describe("changes what is computed", before);
        llvm::raw_string_ostream(message) << ": result #" << number << " is " << a << " before and " << b << " after";
        return {RuleVerdict::Differs, message, text};
      }
    OwningOpRef<ModuleOp> both = join(before, after);
    auto graph = runner.prepare(*both);
    if (!graph)
      return {RuleVerdict::CantRun,
              "pattern '" + label.str() + "' can't be checked: " + llvm::toString(graph.takeError()), text};
    return compareRuns(before, **graph, seed);
  }

  static std::string print(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream(text) << function << "\n";
    return text;
  }

  std::string describe(const Twine &what, func::FuncOp function) const {
    std::string result = ("pattern '" + label + "' " + what + ", with ").str();
    llvm::raw_string_ostream stream(result);
    llvm::interleaveComma(llvm::enumerate(function.getArgumentTypes()), stream, [&](auto argument) {
      StringRef name = instance.argumentNames[argument.index()];
      stream << (name.empty() ? "argument #" + std::to_string(argument.index()) : name.str()) << ": "
             << argument.value();
    });
    return result;
  }

  /// Rewrites `after`, a copy of `before`. Returns the error, or an empty string on success.
  std::string apply(const GraphPattern &pattern, func::FuncOp before, func::FuncOp after) {
    auto copies = after.getBody().front().begin();
    for (auto it = before.getBody().front().begin(); &*it != instance.root; ++it)
      ++copies;
    std::string problem;
    ScopedDiagnosticHandler handler(before.getContext(), [&](Diagnostic &diagnostic) {
      if (problem.empty())
        problem = diagnostic.str();
      return success();
    });
    GraphRewriter rewriter(before.getContext(), args);
    std::string why;
    LogicalResult result = pattern.matchAndRewrite(&*copies, rewriter, {args, false, &why, nullptr});
    if (rewriter.hasError())
      return rewriter.takeError();
    if (failed(result))
      return why.empty() ? "it matches, but can't be rewritten" : why;
    rewriter.getJournal().commit();
    if (failed(verify(after)))
      return problem.empty() ? "the result doesn't verify" : problem;
    return "";
  }

  /// Expands plugins into ops of the dialect. Returns the error, or an empty string on success.
  std::string expand(ModuleOp module) const {
    if (!options.meanings)
      return "";
    std::string problem;
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (problem.empty())
        problem = diagnostic.str();
      return success();
    });
    RewriteOptions run;
    run.args = args;
    if (succeeded(options.meanings->rewrite(module, run)))
      return "";
    return problem.empty() ? "its plugins can't be expanded" : problem;
  }

  /// Returns a module with one function that returns the results of `before`, then those of `after`.
  static OwningOpRef<ModuleOp> join(func::FuncOp before, func::FuncOp after) {
    OpBuilder builder(before.getContext());
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types(before.getResultTypes());
    llvm::append_range(types, after.getResultTypes());
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "rule",
                                         builder.getFunctionType(before.getArgumentTypes(), types));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    SmallVector<Value> results;
    for (func::FuncOp part : {before, after}) {
      IRMapping mapping;
      mapping.map(part.getArguments(), block->getArguments());
      for (Operation &op : part.getBody().front().without_terminator())
        builder.clone(op, mapping);
      for (Value result : part.getBody().front().getTerminator()->getOperands())
        results.push_back(mapping.lookupOrDefault(result));
    }
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    return module;
  }

  RuleVerdict compareRuns(func::FuncOp before, RunnableGraph &graph, uint64_t seed) {
    static constexpr Fill kFills[] = {Fill::Plain, Fill::Small, Fill::Zeros, Fill::Large, Fill::Special, Fill::Special};
    constexpr double kMaxSlack = 1e-5; // Rounding that rules may apply when they compare constants.
    double slack = std::min(10 * instance.slack, kMaxSlack);
    size_t count = before.getNumResults();
    std::vector<HostTensor> inputs, outputs;
    for (Type type : before.getArgumentTypes())
      inputs.push_back(makeTensor(cast<RankedTensorType>(type)));
    for (int part = 0; part < 2; ++part)
      for (Type type : before.getResultTypes())
        outputs.push_back(makeTensor(cast<RankedTensorType>(type)));
    for (auto [round, what] : llvm::enumerate(kFills)) {
      if (finite && (what == Fill::Special || what == Fill::Large))
        continue;
      Random random(seed + round);
      for (HostTensor &input : inputs)
        fill(input, what, random);
      if (llvm::Error error = graph.run(inputs, outputs))
        return {RuleVerdict::CantRun,
                "pattern '" + label.str() + "' can't be checked: " + llvm::toString(std::move(error)), text};
      for (size_t i = 0; i < count; ++i)
        if (std::optional<Difference> difference = compare(outputs[i], outputs[count + i], slack))
          return {RuleVerdict::Differs, report(before, *difference, i, seed + round), text};
      if (inputs.empty())
        break;
    }
    return {};
  }

  std::string report(func::FuncOp function, const Difference &difference, size_t result, uint64_t seed) const {
    std::string place;
    llvm::raw_string_ostream stream(place);
    llvm::interleaveComma(difference.place, stream);
    return llvm::formatv("{0}: element [{1}] of result #{2} is {3:g9} before and {4:g9} after (seed {5})",
                         describe("changes what is computed", function), place, result, number(difference.expected),
                         number(difference.got), seed)
        .str();
  }

  static std::string number(double value) {
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%.9g", value);
    return buffer;
  }

  StringRef label;
  PatternInstance &instance;
  const GraphRunner &runner;
  const RuleCheckOptions &options;
  DictionaryAttr args;
  bool finite;
  std::string text;
};
} // namespace

static bool isFinite(const GraphPattern &pattern) {
  const PDLPattern *pdl = pattern.asPDL();
  return pdl && pdl->isForFiniteNumbers();
}

/// Draws instance `number`. Most instances use floats of 32 and 64 bits. Other types are drawn if the pattern accepts
/// them.
static PatternInstance drawNumbered(const PDLPattern &pattern, const RuleCheckOptions &options, unsigned number,
                                    Type &dtype) {
  Builder builder(pattern.getLoc().getContext());
  builder.getContext()->getOrLoadDialect<func::FuncDialect>();
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  Type dtypes[] = {f32, f64, f32, builder.getF16Type(), f64, builder.getI32Type(), f32, builder.getBF16Type()};
  dtype = dtypes[number % std::size(dtypes)];
  Random random(options.seed * 1000 + number);
  return drawInstance(pattern, options.args, dtype, /*dynamic=*/number % 3 == 2, random);
}

RuleChecker::Drawn RuleChecker::draw(const PDLPattern &pattern, unsigned number) {
  Type dtype;
  PatternInstance instance = drawNumbered(pattern, options, number, dtype);
  return {std::move(instance.module), instance.unknownSize, std::move(instance.whyNot)};
}

RuleVerdict RuleChecker::checkPattern(const GraphPattern &pattern, StringRef label) {
  const PDLPattern *pdl = pattern.asPDL();
  if (!pdl)
    return {RuleVerdict::NoInstance,
            "pattern '" + label.str() +
                "' can't be checked: no instances can be drawn from a class; check it at each match instead",
            ""};
  unsigned found = 0;
  RuleVerdict none{RuleVerdict::NoInstance, "", ""};
  for (unsigned i = 0; i < options.instances; ++i) {
    Type dtype;
    PatternInstance instance = drawNumbered(*pdl, options, i, dtype);
    bool main = dtype.isF32() || dtype.isF64();
    if (!instance.module) {
      if (none.text.empty())
        none.text = "pattern '" + label.str() + "' can't be instantiated: " + instance.whyNot;
      if (i == 0)
        break; // The pattern fails even with f32, so no other type will do.
      continue;
    }
    RuleVerdict verdict =
        InstanceCheck(label, instance, runner, options, isFinite(pattern)).run(pattern, options.seed * 1000 + i * 10);
    if (verdict.kind == RuleVerdict::CantRun && !main)
      continue; // The host cannot run the op on this type.
    if (!verdict.holds())
      return verdict;
    ++found;
  }
  return found ? RuleVerdict() : none;
}

RuleVerdict RuleChecker::checkMatch(const GraphPattern &pattern, StringRef label, const Match &match) {
  Random random(options.seed);
  PatternInstance instance = cutOut(pattern, match, options.args, random);
  if (!instance.module)
    return {RuleVerdict::NoInstance, "pattern '" + label.str() + "' can't be checked here: " + instance.whyNot, ""};
  std::string key = label.str();
  llvm::raw_string_ostream(key) << *instance.module;
  if (!checked.insert(key).second)
    return {};
  return InstanceCheck(label, instance, runner, options, isFinite(pattern)).run(pattern, options.seed);
}

RuleVerdict RuleChecker::compareGraphs(ModuleOp before, ModuleOp after, StringRef label, int64_t unknownSize) {
  for (ModuleOp module : {before, after})
    if (auto functions = module.getOps<func::FuncOp>();
        !llvm::hasSingleElement(functions) || !llvm::hasSingleElement((*functions.begin()).getBody()))
      return {RuleVerdict::CantRun,
              "pattern '" + label.str() + "' can't be checked: expected an example with one function of one block", ""};
  PatternInstance instance;
  instance.module = before.clone();
  instance.unknownSize = unknownSize;
  OwningOpRef<ModuleOp> rewritten = after.clone();
  for (BlockArgument argument : instance.getFunction().getArguments())
    instance.argumentNames.push_back(getLocationName(argument.getLoc()).str());
  return InstanceCheck(label, instance, runner, options, /*finite=*/false).compareWith(*rewritten, options.seed);
}
