// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Escapes text of untrusted files for terminals. Runtime/Report/PlanText.cpp writes the description of a plan.

#include "inlay/Runtime/Core/Text.h"

#include <fmt/format.h>

#include <cstdint>

namespace inlay::rt {

/// Returns the number of bytes of the UTF-8 character at the start of `text` and stores the character. Returns 0 if
/// these bytes are not UTF-8 (RFC 3629).
static size_t decode(std::string_view text, uint32_t &character) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(0);
  size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || length > text.size())
    return 0;
  character = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = character >= 0xd800 && character <= 0xdfff;
  return character < kSmallest[length] || character > 0x10ffff || isSurrogate ? 0 : length;
}

/// Returns true for controls (C0, DEL, C1), line separators, and the marks and overrides of the direction of text.
static bool isControl(uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c ||
         (character >= 0x200b && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2060 && character <= 0x206f) || character == 0xfeff;
}

/// Returns the text with controls and the characters in `escaped` escaped.
static std::string escape(std::string_view text, std::string_view kept, std::string_view escaped) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t character = 0;
    size_t length = decode(text, character);
    bool isAscii = length == 1;
    if (isAscii && escaped.find(text[0]) != std::string_view::npos)
      result += fmt::format("\\{}", text[0]);
    else if (isAscii && text[0] == '\n' && kept.find('\n') == std::string_view::npos)
      result += "\\n";
    else if (length == 0 || (isControl(character) && !(isAscii && kept.find(text[0]) != std::string_view::npos)))
      for (size_t i = 0; i < (length ? length : 1); ++i)
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      result += text.substr(0, length);
    text.remove_prefix(length ? length : 1);
  }
  return result;
}

std::string escapeControls(std::string_view text, std::string_view kept) { return escape(text, kept, ""); }

std::string escapeName(std::string_view name) {
  std::string text = escape(name.substr(0, kMaxNameBytes), "", "'\"\\");
  return name.size() > kMaxNameBytes ? text + "..." : text;
}

} // namespace inlay::rt
