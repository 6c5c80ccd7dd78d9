// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inlay/Support/Suggest.h"

using namespace inlay;

std::string inlay::suggest(llvm::StringRef word, llvm::ArrayRef<std::string> words) {
  unsigned least = (static_cast<unsigned>(word.size()) + 2) / 3 + 1; // as far is too far
  const std::string *nearest = nullptr;
  for (const std::string &known : words) {
    unsigned edits = word.edit_distance_insensitive(known, /*AllowReplacements=*/true, /*MaxEditDistance=*/least - 1);
    if (edits >= least)
      continue;
    least = edits;
    nearest = &known;
    if (edits == 0)
      break;
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}
