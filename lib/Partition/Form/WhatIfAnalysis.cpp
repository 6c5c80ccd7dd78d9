// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the kinds of ops that would pay off with code on the first target, and sweeps the minimum block size.
// PartitionEstimator.cpp plans each case.

#include "WhatIfAnalysis.h"

#include <set>
#include <tuple>

using namespace mlir;
using namespace inlay;

/// Maximum number of ops that the plans for pairs of kinds may visit.
static constexpr int64_t kMaxWorkOnPairs = 20'000'000;
/// Maximum number of rows for combined kinds and for pairs.
static constexpr size_t kMaxCombined = 6, kMaxPairs = 8;

bool inlay::isBetter(const PartitionSummary &a, const PartitionSummary &b) {
  if (a.seconds && b.seconds && *a.seconds != *b.seconds)
    return *a.seconds < *b.seconds;
  return std::tuple(a.segments, -a.acceleratedOps, a.borderBytes) <
         std::tuple(b.segments, -b.acceleratedOps, b.borderBytes);
}

static void sortRows(std::vector<WhatIfRow> &rows) {
  llvm::stable_sort(rows, [](const WhatIfRow &a, const WhatIfRow &b) {
    return isBetter(a.figures, b.figures) || (!isBetter(b.figures, a.figures) && a.kinds < b.kinds);
  });
}

namespace {
class Search {
public:
  Search(PartitionEstimator &estimator, const PartitionInfo &info) : estimator(estimator), info(info) {
    for (auto &[name, count] : estimator.findMissingKinds())
      counts[name] = count;
  }

  FailureOr<WhatIf> run() {
    FailureOr<PartitionSummary> now = estimator.plan(info);
    if (failed(now))
      return failure();
    result.now = *now;
    result.target = estimator.getTargets().getName(0).str();
    for (auto &[kind, count] : counts)
      tryKinds({kind}, result.kinds);
    sortRows(result.kinds);
    findTogether();
    findPairs();
    return std::move(result);
  }

private:
  bool tryKinds(std::vector<std::string> kinds, std::vector<WhatIfRow> &rows) {
    llvm::sort(kinds);
    FailureOr<PartitionSummary> figures = estimator.planWith(kinds, info);
    if (failed(figures))
      return false;
    WhatIfRow row{std::move(kinds), 0, *figures};
    for (const std::string &kind : row.kinds)
      row.ops += counts[kind];
    rows.push_back(std::move(row));
    return true;
  }

  /// Starts with the best kind, and repeatedly adds the kind that gives the best result together with the previous
  /// ones.
  void findTogether() {
    if (result.kinds.empty())
      return;
    result.together.push_back(result.kinds.front());
    while (result.together.size() < std::min(kMaxCombined, counts.size())) {
      std::vector<WhatIfRow> next;
      for (auto &[kind, count] : counts) {
        std::vector<std::string> kinds = result.together.back().kinds;
        if (llvm::is_contained(kinds, kind))
          continue;
        kinds.push_back(kind);
        tryKinds(std::move(kinds), next);
      }
      sortRows(next);
      if (next.empty() || !isBetter(next.front().figures, result.together.back().figures))
        break;
      result.together.push_back(std::move(next.front()));
    }
  }

  /// Tries the pairs of the best single kinds first, since there may be too many.
  void findPairs() {
    int64_t count = static_cast<int64_t>(result.kinds.size()), perPlan = std::max<int64_t>(result.now.ops, 1);
    result.pairsThereAre = count * (count - 1) / 2;
    int64_t maxTried = std::max<int64_t>(kMaxWorkOnPairs / perPlan, 1);
    for (size_t second = 1; second < result.kinds.size(); ++second)
      for (size_t first = 0; first < second && result.pairsTried < maxTried; ++first) {
        ++result.pairsTried;
        tryKinds({result.kinds[first].kinds.front(), result.kinds[second].kinds.front()}, result.pairs);
      }
    sortRows(result.pairs);
    result.pairs.resize(std::min(result.pairs.size(), kMaxPairs));
  }

  PartitionEstimator &estimator;
  const PartitionInfo &info;
  std::map<std::string, int64_t> counts;
  WhatIf result;
};
} // namespace

FailureOr<WhatIf> inlay::analyzeWhatIf(PartitionEstimator &estimator, const PartitionInfo &info) {
  return Search(estimator, info).run();
}

FailureOr<std::vector<SweepRow>> inlay::sweepMinBlockSize(PartitionEstimator &estimator, PartitionInfo info) {
  std::vector<SweepRow> rows;
  for (int64_t size = 1, next = 2;; std::tie(size, next) = std::pair(next, size + next)) {
    info.minBlockSize = size;
    FailureOr<PartitionSummary> figures = estimator.plan(info);
    if (failed(figures))
      return failure();
    rows.push_back({size, *figures});
    if (figures->acceleratedSegments == 0 || size > figures->ops)
      return rows;
  }
}
