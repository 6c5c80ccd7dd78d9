// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suggests the known word that is nearest to an unknown one ("did you mean").

#ifndef INLAY_SUPPORT_SUGGEST_H
#define INLAY_SUPPORT_SUGGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace inlay {

/// Returns "; did you mean 'relu'?" with the word of `words` that has the smallest edit distance to `word`, ignoring
/// case. The first of equally near words is taken. Returns an empty string if no word is near.
std::string suggest(llvm::StringRef word, llvm::ArrayRef<std::string> words);

} // namespace inlay

#endif // INLAY_SUPPORT_SUGGEST_H
