// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The measurements of the rewrite suite. The graph consists of blocks sigmoid(mul(relu(add(matmul(x, w), b)), s)). The
// first pattern fuses relu(add(matmul)) into one op. The other patterns match its first two levels and fail at the
// third.

#ifndef TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H
#define TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H

#include "Measure/Figures.h"

namespace inlay::bench {

enum class Rewriter {
  Inlay,       ///< Inlay's patterns and driver.
  InlayGreedy, ///< Inlay's patterns in upstream's driver.
  Upstream,    ///< Upstream's PDL interpreter and greedy driver with default options.
  UpstreamTop, ///< The same, top-down, without folding, CSE of constants and simplification of regions.
};

struct NamedRewriter {
  const char *name;
  Rewriter rewriter;
};

llvm::ArrayRef<NamedRewriter> getRewriters();

/// Rewrites to the fixpoint and removes dead code. Fails if the result is wrong.
rt::StatusOr<llvm::json::Object> measureRewrite(uint32_t ops, uint32_t patterns, Rewriter rewriter);

/// Rewrites from text to text with Inlay and the patterns in `pdl`, which create ops called `my.linear_relu`.
rt::StatusOr<llvm::json::Object> measureTraced(uint32_t ops, const std::string &pdl);

/// Applies a pattern of two ops that share an operand to a value with `users` users. With `pairs` all users form pairs
/// that match, without it none match.
rt::StatusOr<llvm::json::Object> measureSharedValue(uint32_t users, bool pairs);

/// Explains why a pattern matches none of `ops` ops.
rt::StatusOr<llvm::json::Object> measureExplain(uint32_t ops);

} // namespace inlay::bench

#endif // TOOLS_INLAY_BENCH_GRAPHS_REWRITESTEPS_H
