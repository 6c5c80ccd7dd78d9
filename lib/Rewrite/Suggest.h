// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "did you mean": the known name nearest to a misspelt one.

#ifndef INLAY_REWRITE_SUGGEST_H
#define INLAY_REWRITE_SUGGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace inlay {

/// `, did you mean 'relu'?`; empty if no name is near.
inline std::string suggest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known) {
  llvm::StringRef best;
  unsigned least = name.size() / 3 + 2;
  for (llvm::StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, least);
    if (distance < least || (distance == least && !best.empty() && candidate < best)) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : ("; did you mean '" + best + "'?").str();
}

} // namespace inlay

#endif // INLAY_REWRITE_SUGGEST_H
