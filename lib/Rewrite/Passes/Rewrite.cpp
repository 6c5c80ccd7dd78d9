// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `--inlay-rewrite`: reads pattern files and arguments, runs the manager, and writes traces, remarks and
// explanations.

#include "inlay/Dialect/Inlay/IR/Inlay.h"
#include "inlay/Rewrite/Explain.h"
#include "inlay/Rewrite/Library.h"
#include "inlay/Rewrite/Passes.h"
#include "inlay/Rewrite/RewriteLimit.h"
#include "inlay/Rewrite/RuleCheck.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Remarks.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

namespace inlay {
#define GEN_PASS_DEF_REWRITEPASS
#include "inlay/Rewrite/Passes.h.inc"
} // namespace inlay

using namespace mlir;
using namespace inlay;

/// Parses `4` and `"a"` as attributes. Any other text, such as `abc`, becomes a string attribute.
static Attribute parseArg(StringRef text, MLIRContext *context) {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  Attribute attribute = parseAttribute(text, context);
  return attribute ? attribute : StringAttr::get(context, text);
}

static FailureOr<DictionaryAttr> parseArgs(ArrayRef<std::string> args, MLIRContext *context) {
  NamedAttrList list;
  for (StringRef arg : args) {
    auto [name, value] = arg.split('=');
    if (name.empty() || value.empty())
      return emitError(UnknownLoc::get(context), "expected an argument as name=value, but got '") << arg << "'";
    if (list.set(name, parseArg(value, context)))
      return emitError(UnknownLoc::get(context), "expected each argument once, but got '") << name << "' twice";
  }
  return list.getDictionary(context);
}

static LogicalResult writeTrace(Location loc, StringRef path, llvm::json::Array trace) {
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
  if (!error) {
    file.os() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(trace)));
    file.os().flush();
    error = file.os().error();
    file.os().clear_error();
  }
  if (error)
    return emitError(loc, "can't write the trace to '") << path << "': " << error.message();
  file.keep();
  return success();
}

namespace {
struct RewritePass : inlay::impl::RewritePassBase<RewritePass> {
  using RewritePassBase::RewritePassBase;

  /// Compiles the patterns once, at a time when dialects may still be loaded.
  LogicalResult initialize(MLIRContext *context) override {
    if (limit < -1)
      return emitError(UnknownLoc::get(context), "limit: expected -1 or more, but got ") << limit.getValue();
    manager = std::make_shared<RewritePatternManager>();
    if (failed(addFiles(*manager, patterns, context)))
      return failure();
    for (const std::string &name : libraries)
      if (llvm::Error error = addLibrary(*manager, name, context))
        return emitError(UnknownLoc::get(context), llvm::toString(std::move(error)));
    if (!labels.empty() && failed(enable("*", false, context)))
      return failure();
    for (const std::string &glob : labels)
      if (failed(enable(glob, true, context)))
        return failure();
    for (const std::string &glob : disabled)
      if (failed(enable(glob, false, context)))
        return failure();
    FailureOr<DictionaryAttr> parsed = parseArgs(args, context);
    if (failed(parsed))
      return failure();
    arguments = *parsed;
    return prepareCheck(context);
  }

  static LogicalResult addFiles(PatternManager &manager, ArrayRef<std::string> paths, MLIRContext *context) {
    for (const std::string &path : paths) {
      auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
      if (!file)
        return emitError(UnknownLoc::get(context), "can't read patterns from '")
               << path << "': " << file.getError().message();
      if (llvm::Error error = manager.addPDL((*file)->getBuffer(), path, context))
        return emitError(UnknownLoc::get(context), llvm::toString(std::move(error)));
    }
    return success();
  }

  /// Reads the rules that expand plugins. Each name is a library, else a file.
  LogicalResult readMeanings(MLIRContext *context) {
    meaning = std::make_shared<RewritePatternManager>();
    for (const std::string &name : meanings) {
      bool known = llvm::any_of(getRuleLibraries(), [&](const RuleLibrary &library) { return library.name == name; });
      if (!known && failed(addFiles(*meaning, {name}, context)))
        return failure();
      if (known)
        if (llvm::Error error = addLibrary(*meaning, name, context))
          return emitError(UnknownLoc::get(context), llvm::toString(std::move(error)));
    }
    return success();
  }

  /// Creates the checker if `check` is set. With `registration`, also checks the enabled patterns.
  LogicalResult prepareCheck(MLIRContext *context) {
    if (check == RewriteCheck::Off)
      return success();
    Location loc = UnknownLoc::get(context);
    const GraphRunner *runner = GraphRunner::get(context);
    if (!runner)
      return emitError(
          loc, "patterns can't be checked: this tool can't run graphs; use 'inlay-opt', which runs them on the host");
    RuleCheckOptions options;
    options.args = arguments;
    if (failed(readMeanings(context)))
      return failure();
    options.meanings = meaning.get();
    checker = std::make_shared<RuleChecker>(*runner, options);
    if (check == RewriteCheck::Each)
      return success();
    bool good = true;
    for (StringRef label : manager->getLabels()) {
      if (!manager->isEnabled(label))
        continue;
      RuleVerdict verdict = checker->checkPattern(*manager->get(label), label);
      if (verdict.holds())
        continue;
      good = false;
      const PDLPattern *pattern = manager->get(label)->asPDL();
      InFlightDiagnostic error = emitError(pattern ? pattern->getLoc() : loc) << verdict.text;
      if (!verdict.instance.empty())
        error.attachNote() << "before and after:\n" << verdict.instance;
    }
    return success(good);
  }

  LogicalResult enable(StringRef glob, bool on, MLIRContext *context) {
    llvm::Expected<unsigned> count = manager->setEnabled(glob, on);
    if (!count)
      return emitError(UnknownLoc::get(context), llvm::toString(count.takeError()));
    if (*count == 0 && glob != "*")
      return emitError(UnknownLoc::get(context), "expected a label of a pattern, but none matches '") << glob << "'";
    return success();
  }

  /// Returns the stricter of the limits of the pass and of the process, or -1 if there is none.
  int64_t chooseLimit() const {
    int64_t left = getRewritesLeft();
    return left < 0 || limit < 0 ? std::max(left, limit.getValue()) : std::min(left, limit.getValue());
  }

  void runOnOperation() override {
    RewriteOptions options;
    options.args = arguments;
    options.driver = driver;
    options.limit = chooseLimit();
    options.budget = budget;
    options.removeDeadCode = !keepDeadCode;
    options.acrossSegments = acrossSegments;
    options.checker = check == RewriteCheck::Each ? checker.get() : nullptr;
    llvm::json::Array firings;
    if (!trace.empty())
      options.trace = &firings;
    FailureOr<uint64_t> count = manager->rewrite(getOperation(), options);
    countRewrites(succeeded(count) ? *count : 0);
    Location loc = getOperation().getLoc();
    // The trace is written even if the run failed, because it shows what led there.
    if (!trace.empty() && failed(writeTrace(loc, trace, std::move(firings))))
      return signalPassFailure();
    if (failed(count) || failed(explainPatterns()))
      return signalPassFailure();
    for (StringRef label : manager->getLabels())
      if (PatternStatistics statistics = manager->getStatistics(label); statistics.rewritten > 0)
        remark::passed(loc, remark::RemarkOpts::name("Rewrite").category("inlay-rewrite"))
            << remark::metric("label", label.str()) << remark::metric("rewritten", statistics.rewritten)
            << remark::metric("tried", statistics.tried);
  }

  LogicalResult explainPatterns() {
    for (const std::string &label : explain) {
      GraphPattern *pattern = manager->get(label);
      if (!pattern)
        return emitError(getOperation().getLoc(), "expected a label of a pattern to explain, but got '")
               << label << "'";
      Explanation explanation = inlay::explain(*pattern, getOperation(), arguments);
      Operation *root = explanation.root ? explanation.root : getOperation().getOperation();
      InFlightDiagnostic diagnostic = root->emitRemark() << explanation.str(label);
      for (const Mismatch &mismatch : explanation.mismatches)
        diagnostic.attachNote(mismatch.patternLoc) << mismatch.place << ": " << mismatch.why;
    }
    return success();
  }

  std::shared_ptr<RewritePatternManager> manager;
  std::shared_ptr<RewritePatternManager> meaning;
  std::shared_ptr<RuleChecker> checker;
  DictionaryAttr arguments;
};
} // namespace
