// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "did you mean": the known word nearest to one that nobody knows.

#ifndef INLAY_SUPPORT_SUGGEST_H
#define INLAY_SUPPORT_SUGGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace inlay {

/// "; did you mean 'relu'?" with the nearest of `words` by edits, upper and lower case alike; empty if none is near. Of
/// equally near words the first is taken.
std::string suggest(llvm::StringRef word, llvm::ArrayRef<std::string> words);

} // namespace inlay

#endif // INLAY_SUPPORT_SUGGEST_H
