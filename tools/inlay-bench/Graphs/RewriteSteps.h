// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps that the rewrite suite measures. The graph is blocks of sigmoid(mul(relu(add(matmul(x, w), b)), s)); the
// first pattern makes one op of relu(add(matmul)), the others match two levels of it and differ in the third.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H
#define TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H

#include "Measure/Figures.h"

namespace inlay::bench {

enum class Rewriter {
  Inlay,       ///< our patterns, our driver
  InlayGreedy, ///< our patterns under upstream's driver
  Upstream,    ///< upstream's PDL interpreter and greedy driver, as they are by default
  UpstreamTop, ///< the same from the top, without folding, merging of constants and simplifying of regions
};

struct NamedRewriter {
  const char *name;
  Rewriter rewriter;
};

llvm::ArrayRef<NamedRewriter> getRewriters();

/// To the fixpoint, dead code removed; fails if the result isn't what it must be.
rt::StatusOr<llvm::json::Object> measureRewrite(uint32_t ops, uint32_t patterns, Rewriter rewriter);

/// The same from text to text with these patterns, which make one op called `my.linear_relu`.
rt::StatusOr<llvm::json::Object> measureTraced(uint32_t ops, const std::string &pdl);

/// A pattern with two results that share a value, over a value of so many users; with `pairs` half of them match.
rt::StatusOr<llvm::json::Object> measureSharedValue(uint32_t users, bool pairs);

/// What comes nearest to a pattern that matches nowhere, among so many ops.
rt::StatusOr<llvm::json::Object> measureExplain(uint32_t ops);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H
