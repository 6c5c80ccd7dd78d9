// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Budget: a limit on the memory that a file may make the runtime allocate. One budget covers reading, decoding,
// checking, linking and placing constants.

#ifndef INLAY_RUNTIME_CORE_BUDGET_H
#define INLAY_RUNTIME_CORE_BUDGET_H

#include "inlay/Runtime/Core/Status.h"

#include <algorithm>
#include <cstdint>

namespace inlay::rt {

/// A limit on memory that may still be allocated, in bytes.
class Budget {
public:
  explicit Budget(uint64_t bytes) : left_(bytes) {}

  /// Takes `bytes` from the budget. Returns false if fewer are left.
  bool take(uint64_t bytes) {
    bool fits = bytes <= left_;
    left_ -= fits ? bytes : 0;
    return fits;
  }
  /// Takes memory for `count` elements of `width` bytes. The error names `what`.
  Status take(const char *what, uint64_t count, uint64_t width = 1) {
    uint64_t bytes = 0;
    if (!__builtin_mul_overflow(count, width, &bytes) && take(bytes))
      return Status::ok();
    return {StatusCode::ResourceExhausted, std::string(what) + " exceed the memory limit: expected at most " +
                                               std::to_string(left_ / width) + ", but got " + std::to_string(count)};
  }
  /// Returns the bytes that may still be allocated.
  uint64_t left() const { return left_; }
  /// Lowers the limit if more than `bytes` are left.
  void lowerTo(uint64_t bytes) { left_ = std::min(left_, bytes); }

private:
  uint64_t left_;
};

/// The default limit: 1 GiB, but for small files a base and a multiple of the bytes besides the constants. The multiple
/// covers what loading makes of the tables in a file; see docs/container.md.
constexpr uint64_t kDefaultMemoryLimit = uint64_t(1) << 30, kBaseMemory = uint64_t(64) << 20, kMemoryPerByte = 64;

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_BUDGET_H
