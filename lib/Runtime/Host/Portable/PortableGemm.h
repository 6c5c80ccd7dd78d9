// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in matrix products.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host {

/// Returns a primitive. All strides are supported.
std::shared_ptr<Gemm> makePortableGemm(const GemmShape &shape);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H
