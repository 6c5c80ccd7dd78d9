// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers in the container's format: little-endian, at any address.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_BYTES_H
#define INLAY_LIB_RUNTIME_CONTAINER_BYTES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace inlay::rt {

/// Reads a number from sizeof(T) bytes.
template <typename T>
T loadLittle(const char *bytes) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<Unsigned>(value | Unsigned(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return static_cast<T>(value);
}

template <typename T>
void appendLittle(std::string &bytes, T value) {
  auto rest = static_cast<std::make_unsigned_t<T>>(value);
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(rest >> (8 * i))));
}

/// Returns the smallest multiple of `unit`, a power of two, that is at least `value`. The result must fit 64 bits.
inline uint64_t alignTo(uint64_t value, uint64_t unit) { return (value + unit - 1) & ~(unit - 1); }

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_BYTES_H
