// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodes a plan into the bytes of its sections.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H
#define INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H

#include "Hash.h"
#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::rt {

/// Byte strings one after the other; equal strings are stored once. The strings are referenced, not copied.
class BytePool {
public:
  /// Adds bytes and returns their offset. A new string starts at a multiple of `alignment`.
  uint64_t add(std::string_view bytes, uint64_t alignment);

  struct Piece {
    uint64_t offset;
    std::string_view bytes;
  };
  const std::vector<Piece> &pieces() const { return pieces_; }
  uint64_t size() const { return size_; }

private:
  std::vector<Piece> pieces_;
  std::multimap<Digest, size_t> byHash_;
  uint64_t size_ = 0;
};

/// The place where a constant is stored.
struct ConstantPlace {
  bool isOutside = false; ///< True for the weights file, false for the section "constants".
  uint64_t offset = 0;
};

struct EncodedPlan {
  std::string plan;
  BytePool spirv, host, foreign;
};

/// Encodes a plan. It must outlive the result. `places` has an element for each of its constants.
EncodedPlan encodePlan(const Plan &plan, const std::vector<ConstantPlace> &places);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H
