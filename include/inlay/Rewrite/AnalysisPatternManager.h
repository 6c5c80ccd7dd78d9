// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding without changing: the patterns of rewrites, run for what they match.

#ifndef INLAY_REWRITE_ANALYSISPATTERNMANAGER_H
#define INLAY_REWRITE_ANALYSISPATTERNMANAGER_H

#include "inlay/Rewrite/RewritePatternManager.h"

namespace inlay {

/// A pattern that finds. It overrides `match`, and `analyze` if it collects something of its own.
class PatternAnalyzer : public GraphPattern {
public:
  using GraphPattern::GraphPattern;

  /// Called with each match, once.
  virtual void analyze(const Match &match) {}
  PatternAnalyzer *asAnalyzer() override { return this; }
};

/// Any pattern may be added, also one that rewrites: here it only matches. `analyze` is what it has to run them.
class AnalysisPatternManager : public PatternManager {};

} // namespace inlay

#endif // INLAY_REWRITE_ANALYSISPATTERNMANAGER_H
