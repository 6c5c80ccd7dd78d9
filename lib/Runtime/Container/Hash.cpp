// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the hash that detects damage. Sign.cpp protects against attackers.

#include "Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace inlay::rt {

static Digest toDigest(XXH128_hash_t value) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, value);
  Digest digest;
  static_assert(sizeof(digest) == sizeof(canonical.digest));
  std::memcpy(digest.data(), canonical.digest, sizeof(canonical.digest));
  return digest;
}

Digest hash(std::string_view bytes) { return toDigest(XXH3_128bits(bytes.data(), bytes.size())); }

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->xxh);
  XXH3_128bits_reset(&state_->xxh);
}

Hasher::~Hasher() = default;

void Hasher::add(std::string_view bytes) {
  if (!bytes.empty())
    XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Digest Hasher::digest() const { return toDigest(XXH3_128bits_digest(&state_->xxh)); }

} // namespace inlay::rt
