// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels for tests of a real device, assembled from text.

#ifndef INLAY_UNITTESTS_RUNTIME_KERNELS_H
#define INLAY_UNITTESTS_RUNTIME_KERNELS_H

#include "inlay/Runtime/Core/Plan.h"

namespace inlay::rt::test {

/// Assembles SPIR-V text. Returns no words and prints a message to stderr if it is malformed.
std::vector<uint32_t> assemble(const std::string &text);

/// Returns a kernel that computes c[i] = a[i] `instruction` b[i] for i below push constant 0, in blocks of 64. Bindings
/// are a, b (read) and c (write).
Kernel binaryKernel(const std::string &name, const std::string &instruction);

/// Returns a kernel that computes c[i] = a[i] for i below push constant 0, in blocks of 64. a has texels of one f32, c
/// is a storage buffer.
Kernel texelKernel(const std::string &name);

/// Returns an engine with one dispatch of `kernel` over the engine's arguments for `count` elements.
Engine elementwiseEngine(const Kernel &kernel, const Expr &count);

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_KERNELS_H
