// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from files for terminals. A file may contain bytes that control a terminal or imitate other lines of output.

#ifndef INLAY_RUNTIME_CORE_TEXT_H
#define INLAY_RUNTIME_CORE_TEXT_H

#include <string>
#include <string_view>

namespace inlay::rt {

/// Returns text in which every byte that can change the rest of the output is an escape sequence of C. These are
/// control characters, characters that change the direction of text, and bytes that are not UTF-8. Characters in `kept`
/// stay.
std::string escapeControls(std::string_view text, std::string_view kept = "");

/// Returns a name for a line of output: like `escapeControls`, with quotes and backslashes escaped too. At most
/// `kMaxNameBytes` bytes of the name are shown; "..." replaces the rest.
std::string escapeName(std::string_view name);

constexpr size_t kMaxNameBytes = 256;

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_TEXT_H
