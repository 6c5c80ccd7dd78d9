// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to the bytes of the sections that hold it.

#ifndef INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H
#define INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H

#include "Hash.h"
#include "inlay/Runtime/Core/Plan.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::rt {

/// Byte strings one after the other, equal ones once. They are referred to, not copied.
class BytePool {
public:
  /// Where these bytes start. A new string starts at a multiple of `alignment`.
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

/// Where a constant is stored.
struct ConstantPlace {
  bool isOutside = false; ///< in the weights file, at an offset in it; else in the section "constants"
  uint64_t offset = 0;
};

struct EncodedPlan {
  std::string plan;
  BytePool spirv, host, foreign;
};

/// The plan must outlive the result; `places` has one for each of its constants.
EncodedPlan encodePlan(const Plan &plan, const std::vector<ConstantPlace> &places);

} // namespace inlay::rt

#endif // INLAY_LIB_RUNTIME_CONTAINER_PLANWRITER_H
