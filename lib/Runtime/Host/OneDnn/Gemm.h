// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by oneDNN.

#ifndef INLAY_LIB_RUNTIME_HOST_ONEDNN_GEMM_H
#define INLAY_LIB_RUNTIME_HOST_ONEDNN_GEMM_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host::onednn {

/// Returns a primitive, or null for strides that oneDNN doesn't support or is slow for.
StatusOr<std::shared_ptr<Gemm>> makeGemm(const GemmShape &shape);

} // namespace inlay::rt::host::onednn

#endif // INLAY_LIB_RUNTIME_HOST_ONEDNN_GEMM_H
