// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a convolution of given sizes runs: slices of the outermost spatial dim, each with padding of its own.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H

#include "ConstantCache.h"
#include "Runtime/Host/Support/SequentialLibrary.h"
#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::host {

/// A range of rows of the result and the rows of X that their windows read. A row is what the outermost spatial dim
/// counts.
struct RowSlice {
  int64_t outputBegin = 0, outputRows = 0;
  int64_t inputBegin = 0, inputRows = 0; ///< none if windows read nothing but padding
  size_t primitive = 0;
};

struct ConvolutionPlan {
  int64_t batch = 1;
  ConvolutionShape shape;              ///< of a whole image
  int64_t inputRow = 1, outputRow = 1; ///< places of a row of X and Y
  int64_t chunk = 1;                   ///< tasks that a thread takes at a time
  bool isEmpty = false;                ///< there is no result
  std::vector<RowSlice> slices;
  std::vector<ConvolutionShape> sliceShapes; ///< of `primitives`
  std::vector<std::shared_ptr<ConvolutionPrimitive>> primitives;
  std::vector<size_t> layouts; ///< per primitive: the first one that wants weights packed the same way
  std::string packedLayout;

  int64_t inputChannels() const { return shape.groups * shape.inputs; }
  int64_t outputChannels() const { return shape.groups * shape.outputs; }

  /// Packs the weights for each primitive that others don't pack them for.
  Status pack(const float *weights, Packed &packed) const;
};

/// How many numbers describe the sizes of a convolution of so many spatial dims.
inline size_t countConvolutionSizes(int64_t dims) { return 5 + 6 * static_cast<size_t>(dims); }

/// Whether that number of spatial dims can be run at all.
inline bool isConvolutionRank(int64_t dims) { return dims >= 1 && dims <= 3; }

/// `sizes` as in `HostKernelKind::Convolution`. An error for sizes that make no sense.
StatusOr<std::shared_ptr<const ConvolutionPlan>> planConvolution(const HostKernel &kernel, const int64_t *sizes,
                                                                 int64_t threads, SequentialLibrary &library);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONVOLUTIONPLAN_H
