// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern managers that analyze a graph. Their patterns match, but rewrite nothing.

#ifndef INLAY_REWRITE_ANALYSISPATTERNMANAGER_H
#define INLAY_REWRITE_ANALYSISPATTERNMANAGER_H

#include "inlay/Rewrite/RewritePatternManager.h"

namespace inlay {

/// A pattern for analysis. Subclasses override `match`, and also `analyze` if they collect data.
class PatternAnalyzer : public GraphPattern {
public:
  using GraphPattern::GraphPattern;

  /// Called exactly once for each match.
  virtual void analyze(const Match &match) {}
  PatternAnalyzer *asAnalyzer() override { return this; }
};

/// A manager for analysis. It accepts any pattern, but only matches it, even if the pattern can rewrite. `analyze` runs
/// the patterns.
class AnalysisPatternManager : public PatternManager {};

} // namespace inlay

#endif // INLAY_REWRITE_ANALYSISPATTERNMANAGER_H
