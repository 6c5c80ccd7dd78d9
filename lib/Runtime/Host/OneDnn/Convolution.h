// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by oneDNN.

#ifndef INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H
#define INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host::onednn {

/// Returns a primitive, or null for a shape for which oneDNN has only reference code.
StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape);

} // namespace inlay::rt::host::onednn

#endif // INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H
