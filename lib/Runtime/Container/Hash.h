// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hash of containers: XXH3-128 (github.com/Cyan4973/xxHash). It detects damage fast, but does not protect against
// attackers.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_HASH_H
#define INLAY_LIB_RUNTIME_CONTAINER_HASH_H

#include <array>
#include <memory>
#include <string_view>

namespace inlay::rt {

/// A hash in xxHash's canonical, big-endian form.
using Digest = std::array<char, 16>;

Digest hash(std::string_view bytes);

/// Computes the hash of bytes that are added in parts.
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
