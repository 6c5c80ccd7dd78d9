// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ConvolutionPlan: the slices of a convolution of given sizes, along the outermost spatial dim. Each slice has its
// padding.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H

#include "ConstantCache.h"
#include "Runtime/Host/Support/SequentialLibrary.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A range of rows of the result and the rows of X that their windows read. A row is one index of the outermost spatial
/// dim.
struct RowSlice {
  int64_t outputBegin = 0, outputRows = 0;
  int64_t inputBegin = 0, inputRows = 0; ///< 0 rows if the windows read only padding.
  size_t primitive = 0;
};

struct ConvolutionPlan {
  int64_t batch = 1;
  ConvolutionShape shape;              ///< Shape of a whole image.
  int64_t inputRow = 1, outputRow = 1; ///< Number of positions in a row of X and of Y.
  int64_t chunk = 1;                   ///< Number of tasks that a thread takes at a time.
  bool isEmpty = false;                ///< True if the result has no elements.
  std::vector<RowSlice> slices;
  std::vector<ConvolutionShape> sliceShapes; ///< Shapes of `primitives`.
  std::vector<std::shared_ptr<ConvolutionPrimitive>> primitives;
  std::vector<size_t> layouts; ///< Per primitive: the first primitive with the same layout of packed weights.
  std::string packedLayout;

  int64_t inputChannels() const { return shape.groups * shape.inputs; }
  int64_t outputChannels() const { return shape.groups * shape.outputs; }

  /// Packs the weights once for each layout.
  Status pack(const float *weights, Packed &packed) const;
};

/// Returns the number of sizes that describe a convolution of `dims` spatial dims.
inline size_t countConvolutionSizes(int64_t dims) { return 5 + 6 * static_cast<size_t>(dims); }

/// Returns true if convolutions of this number of spatial dims are supported.
inline bool isConvolutionRank(int64_t dims) { return dims >= 1 && dims <= 3; }

/// Plans a convolution. `sizes` are those of a HostKernelKind::Convolution. Fails for invalid sizes.
StatusOr<std::shared_ptr<const ConvolutionPlan>> planConvolution(const HostKernel &kernel, const int64_t *sizes,
                                                                 int64_t threads, SequentialLibrary &library);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H
