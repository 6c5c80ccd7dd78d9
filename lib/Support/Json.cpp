// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses JSON with a limit on its nesting.

#include "inlay/Support/Json.h"

using namespace inlay;

static bool nestsDeeper(llvm::StringRef json, unsigned maxLevels) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (inString && json[i] == '\\')
      ++i;
    else if (json[i] == '"')
      inString = !inString;
    else if (!inString && (json[i] == '[' || json[i] == '{') && ++depth > maxLevels)
      return true;
    else if (!inString && depth > 0 && (json[i] == ']' || json[i] == '}'))
      --depth;
  }
  return false;
}

llvm::Expected<llvm::json::Value> inlay::parseJson(llvm::StringRef text, unsigned maxLevels) {
  if (nestsDeeper(text, maxLevels))
    return llvm::createStringError("expected at most %u nested levels, but got more", maxLevels);
  return llvm::json::parse(text);
}
