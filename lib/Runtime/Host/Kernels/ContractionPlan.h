// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a contraction of given sizes runs: its slices, a primitive for each of their shapes, and how weights are packed.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H

#include "ConstantCache.h"
#include "ContractionShape.h"
#include "Runtime/Host/Support/SequentialLibrary.h"

#include <tuple>

namespace inlay::rt::host {

/// A loop cut in equal parts but for the last one.
struct Slices {
  int64_t size = 1, slice = 1, count = 1;

  int64_t begin(int64_t index) const { return index * slice; }
  int64_t length(int64_t index) const { return index + 1 < count ? slice : size - index * slice; }
  bool isTail(int64_t index) const { return length(index) != slice; }
};

/// A part of B that is packed by itself.
struct PackedPart {
  int64_t offset;        ///< of its first element in B
  bool isTailM, isTailN; ///< whose primitive packs it

  bool operator<(const PackedPart &other) const {
    return std::tie(offset, isTailM, isTailN) < std::tie(other.offset, other.isTailM, other.isTailN);
  }
};

struct ContractionPlan {
  ContractionShape shape;
  Slices m, n;
  int64_t outerCount = 1, sumCount = 1;
  int64_t chunk = 1; ///< tasks that a thread takes at a time
  bool packsB = false;
  bool usesScratch = false;             ///< products go to scratch of a thread first, rows of `n.slice` elements
  std::shared_ptr<Gemm> gemms[2][2][2]; ///< of the first summand or a later one, inside or tail of m, of n
  bool isTailPackedApart = false;       ///< primitives for the tail of m want another layout
  std::vector<PackedPart> packedParts;  ///< sorted
  std::string packedLayout;

  int64_t tasks() const { return outerCount * m.count * n.count; }

  /// The part's place in `packedParts`.
  size_t findPart(int64_t offset, bool isTailM, bool isTailN) const;

  /// Packs B, which `buffer` points to.
  Status pack(const float *buffer, Packed &packed) const;
};

/// `isInPlace`: a post-op's operand is C's own buffer, so that C mustn't be overwritten before.
StatusOr<std::shared_ptr<const ContractionPlan>> planContraction(const HostKernel &kernel, const int64_t *sizes,
                                                                 bool isInPlace, int64_t threads,
                                                                 SequentialLibrary &library);

/// What index `index` of nested loops, the last one innermost, adds to the offset of `buffer`.
int64_t offsetOf(const std::vector<ContractionLoop> &loops, int64_t index, uint32_t buffer);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONPLAN_H
