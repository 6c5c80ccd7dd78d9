// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from files that anybody may have written.

#ifndef INLAY_SUPPORT_JSON_H
#define INLAY_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace inlay {

/// As `llvm::json::parse`, which recurses once per level, but text that nests deeper than `maxLevels` is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text, unsigned maxLevels = 64);

} // namespace inlay

#endif // INLAY_SUPPORT_JSON_H
