// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// XXH3-128 (github.com/Cyan4973/xxHash): finds damage, fast; it is no protection against an attacker.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_HASH_H
#define INLAY_LIB_RUNTIME_CONTAINER_HASH_H

#include <array>
#include <memory>
#include <string_view>

namespace inlay::rt {

/// A hash in xxHash's canonical, big-endian form.
using Digest = std::array<char, 16>;

Digest hash(std::string_view bytes);

/// The hash of bytes that come in parts.
class Hasher {
public:
  Hasher();
  ~Hasher();
  void add(std::string_view bytes);
  Digest digest() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_HASH_H
