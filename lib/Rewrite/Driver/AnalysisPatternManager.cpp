// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs patterns that match without changing the graph. RewritePatternManager.cpp has what both kinds of managers
// share.

#include "inlay/Rewrite/AnalysisPatternManager.h"
#include "PatternIndex.h"
#include "Rewrite/Graph/UserIndex.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Visitors.h"

using namespace mlir;
using namespace inlay;

bool PatternManager::analyzeAt(Operation *op, const MatchContext &context,
                               function_ref<bool(StringRef, Match &)> found) {
  const RootIndex *patterns = getIndex().lookup(op->getName());
  SmallVector<unsigned, 8> candidates;
  if (patterns)
    patterns->find(op, candidates);
  for (unsigned number : candidates) {
    Entry &entry = entries[number];
    Match match(op);
    if (!entry.enabled)
      continue;
    ++entry.statistics.tried;
    if (failed(entry.pattern->match(op, match, context)))
      continue;
    ++entry.statistics.matched;
    if (match.ops.empty())
      match.ops.push_back(op);
    if (PatternAnalyzer *analyzer = entry.pattern->asAnalyzer())
      analyzer->analyze(match);
    if (!found(entry.label, match))
      return false;
  }
  return true;
}

LogicalResult PatternManager::analyze(Operation *root, DictionaryAttr args,
                                      function_ref<bool(StringRef, Match &)> found) {
  if (failed(checkArgs(root->getLoc(), args)))
    return failure();
  UserIndex users;
  MatchContext context{args, /*acrossSegments=*/true, nullptr, &users};
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return op == root || analyzeAt(op, context, found) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return success();
}

FailureOr<std::vector<LabeledMatch>> PatternManager::analyze(Operation *root, DictionaryAttr args) {
  std::vector<LabeledMatch> matches;
  if (failed(analyze(root, args, [&](StringRef label, Match &match) {
        matches.push_back({label.str(), std::move(match)});
        return true;
      })))
    return failure();
  return matches;
}
