// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host {

/// Takes any strides.
std::shared_ptr<Gemm> makePortableGemm(const GemmShape &shape);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLEGEMM_H
