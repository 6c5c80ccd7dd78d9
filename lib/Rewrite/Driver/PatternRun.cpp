// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries patterns on one op: match, check of the rule, rewrite, undo on failure, removal of dead ops. Drivers.cpp and
// GreedyDriver.cpp decide which ops are visited.

#include "Drivers.h"
#include "Rewrite/PDL/CompiledPattern.h"
#include "Trace.h"

#include "inlay/Rewrite/RuleCheck.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace inlay;

PatternRun::PatternRun(PatternManager &manager, Operation *root, const RewriteOptions &options)
    : manager(manager), root(root), options(options), index(manager.getIndex()),
      rewriter(root->getContext(), options.args), guard(options.budget) {
  stopped = options.limit == 0;
  getJournal().freeing = options.freeing;
  if (options.driver == RewriteDriver::Greedy)
    seesAgain();
  for (const PatternManager::Entry &entry : manager.entries) {
    if (!entry.enabled)
      continue;
    const PDLPattern *pattern = entry.pattern->asPDL();
    if (pattern)
      reach = std::max(reach, pattern->getCompiled().program.depth);
    opaque |= !pattern || pattern->getCompiled().program.looksAtUsers || pattern->getCompiled().looksAround;
  }
}

void PatternRun::fail(Location loc, const Twine &why) {
  hasError = stopped = true;
  emitError(loc) << why;
}

RewriteOpInfo PatternRun::findFacts(OperationName name) {
  auto [it, isNew] = facts.try_emplace(name);
  RewriteOpInfo &found = it->second;
  if (!isNew)
    return found;
  found.patterns = index.lookup(name);
  if (!name.hasInterface<SymbolOpInterface>())
    found.effects = name.getInterface<MemoryEffectOpInterface>();
  found.mayBeDead = options.removeDeadCode && !name.mightHaveTrait<OpTrait::IsTerminator>();
  return found;
}

bool PatternRun::isDead(Operation *op) {
  if (!isUnused(op))
    return false;
  const RewriteOpInfo &found = getFacts(op);
  if (!found.mayBeDead)
    return false;
  // Most ops have no effects at all. For these the trait checks of wouldOpBeTriviallyDead are skipped.
  if (found.effects) {
    effects.clear();
    found.effects->getEffects(found.effects, op, effects);
    if (effects.empty())
      return true;
  }
  return wouldOpBeTriviallyDead(op);
}

bool PatternRun::eraseIfDead(Operation *op) {
  if (!isDead(op))
    return false;
  Journal::Mark mark = getJournal().mark();
  rewriter.eraseOp(op);
  eraseDeadSince(mark);
  lastMark = mark;
  return true;
}

void PatternRun::eraseDeadSince(Journal::Mark mark) {
  if (!options.removeDeadCode)
    return;
  // Erasing appends to the journal, so the loop also visits the ops that become dead.
  for (size_t i = mark; i < getJournal().mark(); ++i)
    Journal::forEachReleased(getJournal()[i], [&](Value value) {
      Operation *producer = value.use_empty() ? value.getDefiningOp() : nullptr;
      if (producer && !getJournal().isErased(producer) && isDead(producer))
        rewriter.eraseOp(producer);
    });
}

static std::string quoteAll(ArrayRef<unsigned> patterns, function_ref<StringRef(unsigned)> label) {
  std::string text;
  for (auto [number, pattern] : llvm::enumerate(patterns))
    text += (Twine(number == 0                     ? ""
                   : number + 1 == patterns.size() ? " and "
                                                   : ", ") +
             "'" + label(pattern) + "'")
                .str();
  return text;
}

bool PatternRun::checkMatch(const PatternManager::Entry &entry, Operation *op, const MatchContext &context) {
  Match match(op);
  if (failed(entry.pattern->match(op, match, context)))
    return false;
  if (RuleVerdict verdict = options.checker->checkMatch(*entry.pattern, entry.label, match); !verdict.holds())
    fail(op->getLoc(), verdict.text);
  return true;
}

void PatternRun::noteGivenUp(unsigned number, Location loc) {
  unsigned times = ++givenUp[number];
  if (times != 1 && times != kMaxGivenUp)
    return;
  InFlightDiagnostic warning = emitWarning(loc);
  warning << "gave up matching pattern '" << manager.entries[number].label << "' here";
  if (times == kMaxGivenUp)
    warning << " for the " << times << "th time and dropped it from the run";
  warning << ": there are more than " << MatchProgram::kMaxWays
          << " ways to match operands in any order and users of shared values; mark ops whose operands have a fixed "
             "order as 'ordered'";
}

bool PatternRun::tryPattern(unsigned number, Operation *op) {
  if (!givenUp.empty() && givenUp.lookup(number) >= kMaxGivenUp)
    return false;
  PatternManager::Entry &entry = manager.entries[number];
  Journal &journal = getJournal();
  Journal::Mark mark = journal.mark();
  ++entry.statistics.tried;
  // MLIR's greedy driver may erase ops without the journal, which would make the index stale.
  bool indexed = options.driver != RewriteDriver::Greedy;
  bool gaveUp = false;
  MatchContext context{options.args, options.acrossSegments, nullptr, indexed ? &users : nullptr, &gaveUp};
  std::optional<Firing> firing;
  if (options.trace)
    firing = Firing(*entry.pattern, op, context);
  Location loc = op->getLoc();
  bool checked = options.checker && checkMatch(entry, op, context);
  if (stopped)
    return false;
  LogicalResult result = entry.pattern->matchAndRewrite(op, rewriter, context);
  if (options.interrupted)
    if (std::string why = options.interrupted(); !why.empty())
      rewriter.refuse(why);
  if (rewriter.hasError()) {
    std::string why = rewriter.takeError();
    rewriter.undoTo(mark);
    fail(loc, "pattern '" + entry.label + "' can't rewrite: " + why);
    return false;
  }
  if (gaveUp)
    noteGivenUp(number, loc);
  if (failed(result)) {
    entry.statistics.rejected += journal.mark() != mark;
    rewriter.undoTo(mark);
    return false;
  }
  // A rewrite that changed nothing would match again and again.
  if (journal.mark() == mark)
    return false;
  if (options.checker && !checked) {
    rewriter.undoTo(mark);
    fail(loc, "pattern '" + entry.label + "' can't be checked: its class doesn't separate match from rewrite");
    return false;
  }
  eraseDeadSince(mark);
  const Journal::Changes changes = journal.since(mark);
  users.update(changes);
  lastMark = mark;
  ++entry.statistics.rewritten;
  ++rewrites;
  if (firing)
    options.trace->push_back(firing->finish(entry.label, rewrites, journal, mark));
  SmallVector<unsigned> cyclingPatterns;
  auto label = [&](unsigned pattern) { return StringRef(manager.entries[pattern].label); };
  if (guard.note(number, op, changes, cyclingPatterns)) {
    bool isSingle = cyclingPatterns.size() == 1;
    fail(loc, "rewriting doesn't end: " + Twine(isSingle ? "pattern " : "patterns ") +
                  quoteAll(cyclingPatterns, label) +
                  (isSingle ? " leads back to where it started" : " lead back to where they started"));
  } else if (guard.isSpent()) {
    fail(loc, "rewriting doesn't seem to end: " + Twine(rewrites) + " rewrites for " + Twine(guard.getSeen()) +
                  " ops, the last by " + quoteAll(guard.getLastPatterns(), label));
  }
  stopped |= options.limit >= 0 && rewrites >= static_cast<uint64_t>(options.limit);
  return true;
}

PatternRun::Outcome PatternRun::tryPatterns(Operation *op) {
  if (stopped)
    return Outcome::Stopped;
  const RootIndex *patterns = getFacts(op).patterns;
  if (!patterns)
    return Outcome::None;
  SmallVector<unsigned, 8> candidates;
  patterns->find(op, candidates);
  for (unsigned number : candidates) {
    if (!manager.entries[number].enabled)
      continue;
    if (tryPattern(number, op))
      return Outcome::Rewritten;
    if (stopped)
      return Outcome::Stopped;
  }
  return Outcome::None;
}

FailureOr<uint64_t> PatternRun::finish() {
  if (hasError) {
    rewriter.undoTo(0);
    return failure();
  }
  getJournal().commit();
  return rewrites;
}
