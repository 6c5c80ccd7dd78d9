// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for files and text.

#ifndef INLAY_TOOLS_INLAYRUN_FILES_H
#define INLAY_TOOLS_INLAYRUN_FILES_H

#include "inlay/Runtime/Core/Status.h"

#include <charconv>
#include <string>
#include <string_view>

namespace inlay::tools {

/// Read or write a whole file. Errors name the file and the system's message.
rt::StatusOr<std::string> readFile(const std::string &path);
rt::Status writeFile(const std::string &path, std::string_view text);

inline bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// Parses all of `text` as a number. Returns false if it is not a number or does not fit.
template <typename T>
bool parseNumber(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace inlay::tools

#endif // INLAY_TOOLS_INLAYRUN_FILES_H
