// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the known word with the fewest edits. tools/inlay-run/Options.cpp has its own search, since it links no
// LLVM.

#include "inlay/Support/Suggest.h"

using namespace inlay;

std::string inlay::suggest(llvm::StringRef word, llvm::ArrayRef<std::string> words) {
  // Words at this distance are too different.
  unsigned limit = (static_cast<unsigned>(word.size()) + 2) / 3 + 1;
  const std::string *nearest = nullptr;
  for (const std::string &known : words) {
    unsigned edits = word.edit_distance_insensitive(known, /*AllowReplacements=*/true, /*MaxEditDistance=*/limit - 1);
    if (edits >= limit)
      continue;
    limit = edits;
    nearest = &known;
    if (edits == 0)
      break;
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}
