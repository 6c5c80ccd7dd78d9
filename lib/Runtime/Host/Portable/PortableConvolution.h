// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host {

/// Takes any shape.
std::shared_ptr<ConvolutionPrimitive> makePortableConvolution(const ConvolutionShape &shape);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H
