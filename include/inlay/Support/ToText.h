// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints attributes, types and names to strings for messages.

#ifndef INLAY_SUPPORT_TOTEXT_H
#define INLAY_SUPPORT_TOTEXT_H

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace inlay {

template <typename T>
std::string toText(const T &thing) {
  std::string text;
  llvm::raw_string_ostream(text) << thing;
  return text;
}

} // namespace inlay

#endif // INLAY_SUPPORT_TOTEXT_H
