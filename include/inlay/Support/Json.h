// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses JSON from untrusted files.

#ifndef INLAY_SUPPORT_JSON_H
#define INLAY_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace inlay {

/// Parses `text`. Returns an error if it nests deeper than `maxLevels`, because llvm::json::parse recurses once per
/// level.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text, unsigned maxLevels = 64);

} // namespace inlay

#endif // INLAY_SUPPORT_JSON_H
