// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Containers in memory, for tests and the fuzz target.

#ifndef INLAY_UNITTESTS_RUNTIME_CONTAINER_IMAGE_H
#define INLAY_UNITTESTS_RUNTIME_CONTAINER_IMAGE_H

#include "Bytes.h"
#include "Open.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace inlay::rt::test {

/// Corrects the length and the hash in the header.
inline void seal(std::string &image) {
  if (image.size() < kHeaderBytes)
    return;
  std::string length;
  appendLittle(length, uint64_t(image.size()));
  image.replace(40, 8, length);
  Digest digest = hashFile(image, "");
  std::copy(digest.begin(), digest.end(), image.begin() + kDigestAt);
}

/// Reads a container from a copy of bytes that has no slack behind its end.
inline StatusOr<ContainerContents> readImage(const std::string &image, uint64_t memory = uint64_t(64) << 20) {
  void *copy = nullptr;
  if (posix_memalign(&copy, kPageBytes, std::max<size_t>(image.size(), 1)) != 0)
    return Status(StatusCode::ResourceExhausted, "no memory for the test");
  std::memcpy(copy, image.data(), image.size());
  std::shared_ptr<const void> owner(copy, std::free);
  Budget budget(memory);
  auto opened = openImage({static_cast<const char *>(copy), image.size()}, budget);
  if (!opened.isOk())
    return opened.status();
  opened->constants.owner = owner;
  return decodeContainer(*opened, budget);
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_CONTAINER_IMAGE_H
