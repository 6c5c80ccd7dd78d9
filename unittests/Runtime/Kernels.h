// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels for tests of a real device, assembled from text.

#ifndef INLAY_UNITTESTS_RUNTIME_KERNELS_H
#define INLAY_UNITTESTS_RUNTIME_KERNELS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::test {

/// SPIR-V words of assembly text; empty, with a message on stderr, if it doesn't assemble.
std::vector<uint32_t> assemble(const std::string &text);

/// c[i] = a[i] `instruction` b[i] for i below push constant 0, in blocks of 64; bindings a, b (read), c (write).
Kernel binaryKernel(const std::string &name, const std::string &instruction);

/// c[i] = a[i] for i below push constant 0, in blocks of 64; a is of texels of one f32, c is a storage buffer.
Kernel texelKernel(const std::string &name);

/// An engine of one dispatch of `kernel` over its own arguments for `count` elements.
Engine elementwiseEngine(const Kernel &kernel, const Expr &count);

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_KERNELS_H
