// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit on all rewrites of a process, for tools: to find the one that goes wrong by bisection.

#ifndef INLAY_REWRITE_REWRITELIMIT_H
#define INLAY_REWRITE_REWRITELIMIT_H

#include <cstdint>

namespace inlay {

/// Lets all passes together do at most `count` rewrites from now on; any number if it is negative, as at first.
void limitRewrites(int64_t count);

/// How many rewrites passes may still do; -1 for any number.
int64_t getRewritesLeft();

/// Takes rewrites that were done from those that are left.
void countRewrites(uint64_t count);

} // namespace inlay

#endif // INLAY_REWRITE_REWRITELIMIT_H
