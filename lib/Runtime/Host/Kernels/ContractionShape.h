// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ContractionShape: a contraction of given sizes as loops over matrix products.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A loop. Its strides count elements of each of the kernel's buffers.
struct ContractionLoop {
  int64_t size = 1;
  std::vector<int64_t> strides;
};

/// For each index of `outer`: C[m, n] = sum over `sums` and k of A[m, k] B[k, n]. A missing m, n or k has size 1. Other
/// loops of size 1 are removed, and loops that are contiguous in every buffer are merged.
struct ContractionShape {
  std::vector<ContractionLoop> outer, sums;
  ContractionLoop m, n, k;
  uint32_t a = 0, b = 1;        ///< Buffers of A and B; exchanged if C has adjacent rows.
  bool isEmpty = false;         ///< True if C has no elements.
  bool isEmptySum = false;      ///< True if C has elements whose sums are empty.
  std::vector<int64_t> extents; ///< Per buffer: number of elements from its first to its last used one.
};

/// Analyzes a contraction. `sizes` are those of a HostKernelKind::Contraction. Fails for negative sizes or strides and
/// for buffers beyond 2^63 bytes.
StatusOr<ContractionShape> analyzeContraction(const HostKernel &kernel, const int64_t *sizes);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H
