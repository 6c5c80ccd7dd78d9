// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of tests for another processor: what they start, which is themselves, is started in the emulator as they were.

#include <array>
#include <cerrno>
#include <cstddef>
#include <unistd.h>

extern "C" int execv(const char *path, char *const arguments[]) {
  static constexpr const char *kEmulator[] = {INLAY_EMULATOR};
  std::array<char *, 64> words = {}; // death tests come here in a child of fork, which must not allocate
  size_t count = 0;
  for (const char *word : kEmulator)
    words[count++] = const_cast<char *>(word);
  words[count++] = const_cast<char *>(path);
  for (size_t i = 1; arguments[0] && arguments[i]; ++i) {
    if (count + 1 == words.size()) {
      errno = E2BIG;
      return -1;
    }
    words[count++] = arguments[i];
  }
  return execvp(words[0], words.data());
}
