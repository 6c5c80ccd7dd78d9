// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fill functions that upstream's Vulkan runner tests call. With them the tests run on this library unchanged.

#include <algorithm>
#include <cstdint>

namespace {

template <typename T, int Rank>
struct MemRef {
  T *allocated;
  T *aligned;
  int64_t offset;
  int64_t sizes[Rank];
  int64_t strides[Rank];
};

} // namespace

/// Fills a contiguous memref.
template <typename T, int Rank>
static void fill(MemRef<T, Rank> *memref, T value) {
  int64_t count = 1;
  for (int64_t size : memref->sizes)
    count *= size;
  std::fill_n(memref->aligned + memref->offset, count, value);
}

#define INLAY_FILL(suffix, type, argument, rank)                                                                       \
  extern "C" __attribute__((visibility("default"))) void _mlir_ciface_fillResource##rank##D##suffix(void *memref,      \
                                                                                                    argument value) {  \
    fill(static_cast<MemRef<type, rank> *>(memref), static_cast<type>(value));                                         \
  }
#define INLAY_FILL_RANKS(suffix, type, argument)                                                                       \
  INLAY_FILL(suffix, type, argument, 1)                                                                                \
  INLAY_FILL(suffix, type, argument, 2)                                                                                \
  INLAY_FILL(suffix, type, argument, 3)

INLAY_FILL_RANKS(Float, float, float)
INLAY_FILL_RANKS(Int, int32_t, int32_t)
INLAY_FILL_RANKS(Int8, int8_t, int8_t)
