// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H
#define INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host::onednn {

/// Null for a shape for which oneDNN has its reference code alone.
StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolution(const ConvolutionShape &shape);

} // namespace inlay::rt::host::onednn

#endif // INLAY_LIB_RUNTIME_HOST_ONEDNN_CONVOLUTION_H
