// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a contraction is for given sizes: loops over products of two matrices. A pure function of description and sizes.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A loop; its strides count elements of each of the kernel's buffers.
struct ContractionLoop {
  int64_t size = 1;
  std::vector<int64_t> strides;
};

/// For each index of `outer`: C[m, n] = sum over `sums` and k of A[m, k] B[k, n], where a loop of size 1 stands for one
/// that there isn't. Loops of size 1 are gone, and those that lie one behind the other in every buffer are merged.
struct ContractionShape {
  std::vector<ContractionLoop> outer, sums;
  ContractionLoop m, n, k;
  uint32_t a = 0, b = 1;        ///< which buffers A and B are: exchanged where C has adjacent rows
  bool isEmpty = false;         ///< C has no element
  bool isEmptySum = false;      ///< C has elements, and there is nothing to sum for them
  std::vector<int64_t> extents; ///< per buffer: elements from its first to behind its last one that is used
};

/// `sizes` as in `HostKernelKind::Contraction`. An error for negative sizes or strides, or beyond 2^63 bytes.
StatusOr<ContractionShape> analyzeContraction(const HostKernel &kernel, const int64_t *sizes);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONTRACTIONSHAPE_H
