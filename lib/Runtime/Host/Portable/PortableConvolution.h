// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in convolutions.

#ifndef INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H
#define INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H

#include "Runtime/Host/Support/SequentialLibrary.h"

namespace inlay::rt::host {

/// Returns a primitive. All shapes are supported.
std::shared_ptr<ConvolutionPrimitive> makePortableConvolution(const ConvolutionShape &shape);

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_PORTABLE_PORTABLECONVOLUTION_H
