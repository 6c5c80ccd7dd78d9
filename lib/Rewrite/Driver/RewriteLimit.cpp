// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the rewrites of the process against a limit, for bisection. It is not the budget that stops endless
// rewriting: TerminationGuard.h applies `RewriteOptions::budget`.

#include "inlay/Rewrite/RewriteLimit.h"

#include <algorithm>
#include <atomic>

using namespace inlay;

static std::atomic<int64_t> left{-1};

void inlay::limitRewrites(int64_t count) { left = std::max<int64_t>(count, -1); }

int64_t inlay::getRewritesLeft() { return left; }

void inlay::countRewrites(uint64_t count) {
  int64_t before = left;
  while (before >= 0 && !left.compare_exchange_weak(before, std::max<int64_t>(before - int64_t(count), 0)))
    ;
}
