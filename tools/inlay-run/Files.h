// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files and text, as the tool's parts need them.

#ifndef INLAY_TOOLS_INLAYRUN_FILES_H
#define INLAY_TOOLS_INLAYRUN_FILES_H

#include "inlay/Runtime/Core/Status.h"

#include <charconv>
#include <string>
#include <string_view>

namespace inlay::tools {

/// Errors name the file and what the system says.
rt::StatusOr<std::string> readFile(const std::string &path);
rt::Status writeFile(const std::string &path, std::string_view text);

inline bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// All of the text as a number; false if it is none, or doesn't fit.
template <typename T>
bool parseNumber(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_FILES_H
