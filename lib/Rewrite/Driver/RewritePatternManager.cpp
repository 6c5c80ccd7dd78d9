// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds, removes, enables and counts patterns by label, and checks the arguments of a run. PatternRun.cpp applies
// them.

#include "inlay/Rewrite/RewritePatternManager.h"
#include "Drivers.h"
#include "PatternIndex.h"
#include "inlay/Support/Suggest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace inlay;

PatternManager::PatternManager() : functions(std::make_unique<NativeFunctions>()) {}
PatternManager::~PatternManager() = default;

const PatternManager::Entry *PatternManager::find(StringRef label) const {
  auto it = llvm::find_if(entries, [&](const Entry &entry) { return entry.label == label; });
  return it == entries.end() ? nullptr : &*it;
}

llvm::Error PatternManager::add(StringRef label, std::unique_ptr<GraphPattern> pattern,
                                std::optional<unsigned> benefit) {
  if (label.empty())
    return llvm::createStringError("expected a label for the pattern, but got an empty one");
  if (find(label))
    return llvm::createStringError("expected a new label, but there is a pattern labeled '" + label + "' already");
  unsigned rank = benefit.value_or(pattern->getBenefit());
  auto place = llvm::find_if(entries, [&](const Entry &entry) { return entry.benefit < rank; });
  entries.insert(place, Entry{label.str(), std::move(pattern), rank, true, {}});
  index.reset();
  return llvm::Error::success();
}

/// Runs `function`. If it fails, its diagnostics become the text of the error.
static llvm::Error collectError(MLIRContext *context, function_ref<LogicalResult()> function) {
  std::string text;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(text);
    if (!text.empty())
      stream << "\n";
    if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      stream << loc.getFilename().getValue() << ":" << loc.getLine() << ":" << loc.getColumn() << ": ";
    stream << diagnostic;
    return success();
  });
  return succeeded(function()) ? llvm::Error::success() : llvm::createStringError(text);
}

llvm::Error PatternManager::addPDL(StringRef text, StringRef textName, MLIRContext *context, StringRef prefix) {
  std::vector<std::unique_ptr<PDLPattern>> patterns;
  if (llvm::Error error = collectError(context, [&]() -> LogicalResult {
        auto read = readPDL(text, textName, context, *functions);
        if (succeeded(read))
          patterns = std::move(*read);
        return read;
      }))
    return error;
  for (auto &pattern : patterns)
    if (std::string label = (prefix + pattern->getName()).str(); find(label))
      return llvm::createStringError("expected a new label, but there is a pattern labeled '" + label + "' already");
  for (auto &pattern : patterns) {
    std::string label = (prefix + pattern->getName()).str();
    if (llvm::Error error = add(label, std::move(pattern)))
      return error;
  }
  return llvm::Error::success();
}

GraphPattern *PatternManager::get(StringRef label) const {
  const Entry *entry = find(label);
  return entry ? entry->pattern.get() : nullptr;
}

bool PatternManager::remove(StringRef label) {
  const Entry *entry = find(label);
  if (!entry)
    return false;
  entries.erase(entries.begin() + (entry - entries.data()));
  index.reset();
  return true;
}

SmallVector<StringRef> PatternManager::getLabels() const {
  return llvm::map_to_vector(entries, [](const Entry &entry) { return StringRef(entry.label); });
}

llvm::Expected<unsigned> PatternManager::setEnabled(StringRef glob, bool enabled) {
  auto pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    return pattern.takeError();
  unsigned count = 0;
  for (Entry &entry : entries)
    if (pattern->match(entry.label)) {
      entry.enabled = enabled;
      ++count;
    }
  return count;
}

bool PatternManager::isEnabled(StringRef label) const {
  const Entry *entry = find(label);
  return entry && entry->enabled;
}

PatternStatistics PatternManager::getStatistics(StringRef label) const {
  const Entry *entry = find(label);
  return entry ? entry->statistics : PatternStatistics();
}

PatternIndex &PatternManager::getIndex() {
  if (!index) {
    std::vector<const GraphPattern *> patterns;
    for (const Entry &entry : entries)
      patterns.push_back(entry.pattern.get());
    index = std::make_unique<PatternIndex>(std::move(patterns));
  }
  return *index;
}

LogicalResult PatternManager::checkArgs(Location loc, DictionaryAttr args) const {
  for (const Entry &entry : entries) {
    const PDLPattern *pattern = entry.enabled ? entry.pattern->asPDL() : nullptr;
    for (const std::string &name : pattern ? pattern->getArgNames() : ArrayRef<std::string>())
      if (!args || !args.get(name)) {
        std::vector<std::string> given;
        for (NamedAttribute arg : args ? args.getValue() : ArrayRef<NamedAttribute>())
          given.push_back(arg.getName().str());
        return emitError(loc) << "pattern '" << entry.label << "' needs argument '" << name << "', which isn't given"
                              << suggest(name, given);
      }
  }
  return success();
}

FailureOr<uint64_t> RewritePatternManager::rewrite(Operation *root, const RewriteOptions &options) {
  if (failed(checkArgs(root->getLoc(), options.args)))
    return failure();
  PatternRun run(*this, root, options);
  switch (options.driver) {
  case RewriteDriver::Fixpoint:
    return driveFixpoint(run, root);
  case RewriteDriver::Sweep:
    return driveSweep(run, root);
  case RewriteDriver::Greedy:
    return driveGreedy(run, root);
  }
  return failure();
}
