// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PortableConvolution.h"

namespace inlay::rt::host {

std::shared_ptr<ConvolutionPrimitive> makePortableConvolution(const ConvolutionShape &) { return nullptr; }

} // namespace inlay::rt::host
