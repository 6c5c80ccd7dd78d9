// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ContractionPlan: the slices of a contraction of given sizes, a primitive for each shape of slice, and packed weights.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H

#include "ConstantCache.h"
#include "ContractionShape.h"
#include "Runtime/Host/Support/SequentialLibrary.h"

#include <tuple>

namespace inlay::rt::host {

/// A loop split into equal parts; only the last one may be shorter.
struct Slices {
  int64_t size = 1, slice = 1, count = 1;

  int64_t begin(int64_t index) const { return index * slice; }
  int64_t length(int64_t index) const { return index + 1 < count ? slice : size - index * slice; }
  bool isTail(int64_t index) const { return length(index) != slice; }
};

/// A part of B that is packed separately.
struct PackedPart {
  int64_t offset;        ///< Offset of its first element in B.
  bool isTailM, isTailN; ///< Select the primitive that packs it.

  bool operator<(const PackedPart &other) const {
    return std::tie(offset, isTailM, isTailN) < std::tie(other.offset, other.isTailM, other.isTailN);
  }
};

struct ContractionPlan {
  ContractionShape shape;
  Slices m, n;
  int64_t outerCount = 1, sumCount = 1;
  int64_t chunk = 1; ///< Number of tasks that a thread takes at a time.
  bool packsB = false;
  bool usesScratch =
      false; ///< True if products are first written to the thread's scratch, in rows of `n.slice` elements.
  std::shared_ptr<Gemm> gemms[2][2][2]; ///< Indices: 0 for the first summand; 1 for the tail of m; 1 for the tail of n.
  bool isTailPackedSeparately = false;  ///< True if the primitives for the tail of m need another layout of B.
  std::vector<PackedPart> packedParts;  ///< Sorted.
  std::string packedLayout;

  int64_t tasks() const { return outerCount * m.count * n.count; }

  /// Returns the index of the part in `packedParts`.
  size_t findPart(int64_t offset, bool isTailM, bool isTailN) const;

  /// Packs B at `buffer`.
  Status pack(const float *buffer, Packed &packed) const;
};

/// Plans a contraction. `isInPlace` says that a post-op's operand is C's buffer, so C must not be overwritten before
/// the post-op reads it.
StatusOr<std::shared_ptr<const ContractionPlan>> planContraction(const HostKernel &kernel, const int64_t *sizes,
                                                                 bool isInPlace, int64_t threads,
                                                                 SequentialLibrary &library);

/// Returns the offset in `buffer` for index `index` of nested loops; the last loop is the innermost.
int64_t offsetOf(const std::vector<ContractionLoop> &loops, int64_t index, uint32_t buffer);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H
