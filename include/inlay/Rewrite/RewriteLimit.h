// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit on the number of rewrites of the whole process. Tools use it to find a wrong rewrite by bisection.

#ifndef INLAY_REWRITE_REWRITELIMIT_H
#define INLAY_REWRITE_REWRITELIMIT_H

#include <cstdint>

namespace inlay {

/// Limits all passes together to `count` rewrites from now on. A negative `count` removes the limit; initially there is
/// none.
void limitRewrites(int64_t count);

/// Returns the number of rewrites that passes may still do, or -1 if there is no limit.
int64_t getRewritesLeft();

/// Subtracts `count` rewrites that were done from the limit.
void countRewrites(uint64_t count);

} // namespace inlay

#endif // INLAY_REWRITE_REWRITELIMIT_H
