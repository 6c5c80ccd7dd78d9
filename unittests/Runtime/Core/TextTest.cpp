// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the text that messages and descriptions show for names from a file.

#include "inlay/Runtime/Core/Text.h"

#include <gtest/gtest.h>

using namespace inlay::rt;

namespace {

TEST(Text, printableCharactersOfEachLengthStay) {
  for (const char *text : {"a~ ", "\u00e9\u00a0", "\u20ac\ud7ff\ue000", "\U00010000\U0010ffff"})
    EXPECT_EQ(escapeControls(text, ""), text);
}

TEST(Text, controlsAreEscapedByteByByte) {
  EXPECT_EQ(escapeControls("a\x1f\x7f", ""), "a\\x1f\\x7f");
  EXPECT_EQ(escapeControls("\u0080\u009f", ""), "\\xc2\\x80\\xc2\\x9f");
  EXPECT_EQ(escapeControls("\u061c\u200b\u202e\ufeff", ""), "\\xd8\\x9c\\xe2\\x80\\x8b\\xe2\\x80\\xae\\xef\\xbb\\xbf");
  for (const char *first : {"\u200b", "\u2028", "\u2060"})
    EXPECT_EQ(escapeControls(first, "").size(), 12u) << first;
  for (const char *last : {"\u200f", "\u202e", "\u206f"})
    EXPECT_EQ(escapeControls(last, "").size(), 12u) << last;
  for (const char *text : {"\u200a\u2010", "\u2027\u202f", "\u205f\u2070"})
    EXPECT_EQ(escapeControls(text, ""), text);
  EXPECT_EQ(escapeControls("a\nb\t", ""), "a\\nb\\x09");
  EXPECT_EQ(escapeControls("a\nb\t", "\n\t"), "a\nb\t");
}

TEST(Text, bytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(escapeControls("\x80"
                           "a\xc1\xbf",
                           ""),
            "\\x80a\\xc1\\xbf");                                             // no first byte, an overlong form
  EXPECT_EQ(escapeControls("\xe0\x9f\xbf", ""), "\\xe0\\x9f\\xbf");          // an overlong form
  EXPECT_EQ(escapeControls("\xed\xa0\x80", ""), "\\xed\\xa0\\x80");          // a surrogate
  EXPECT_EQ(escapeControls("\xf4\x90\x80\x80", ""), "\\xf4\\x90\\x80\\x80"); // beyond Unicode
  EXPECT_EQ(escapeControls("\xf5\x80\x80\x80", ""), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(escapeControls("\xe2\x82", ""), "\\xe2\\x82"); // cut short
  EXPECT_EQ(escapeControls("\xe2\xa8-", ""), "\\xe2\\xa8-");
  EXPECT_EQ(escapeControls("\xc3"
                           "a",
                           ""),
            "\\xc3a"); // no continuation
}

TEST(Text, namesAreQuotableAndShort) {
  EXPECT_EQ(escapeName("a'b\"c\\"), "a\\'b\\\"c\\\\");
  EXPECT_EQ(escapeName(std::string(kMaxNameBytes, 'a')), std::string(kMaxNameBytes, 'a'));
  EXPECT_EQ(escapeName(std::string(kMaxNameBytes + 1, 'a')), std::string(kMaxNameBytes, 'a') + "...");
}

} // namespace
