// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What native code of a host function calls back into: loops over several threads, and library kernels.

#ifndef INLAY_RUNTIME_CORE_HOSTKERNELS_H
#define INLAY_RUNTIME_CORE_HOSTKERNELS_H

#include "inlay/Runtime/Core/Plan.h"

#include <memory>

extern "C" {

/// Runs iterations [begin, end) of a loop over `buffers`.
typedef void (*InlayHostBody)(void *const *buffers, int64_t begin, int64_t end);

/// The last pointer that a host function gets if it has kernels; the layout is part of what object code relies on.
struct InlayHostContext {
  /// Runs `body` over [0, count) in chunks, maybe several at a time, and returns when all are done. `cost` is about how
  /// many elements an iteration touches, so that short loops stay on one thread.
  void (*run)(InlayHostContext *self, int64_t kernel, InlayHostBody body, void *const *buffers, int64_t count,
              int64_t cost);
  /// Runs a library kernel. After a failure, which the host function's caller sees, later calls do nothing.
  void (*call)(InlayHostContext *self, int64_t kernel, void *const *buffers, const int64_t *sizes);
};

} // extern "C"

namespace inlay::rt {

/// The kernels of one host function, ready to run: primitives, weights as a library wants them. Safe from several
/// threads.
class HostKernels {
public:
  virtual ~HostKernels() = default;

  /// As `InlayHostContext::run`.
  virtual void run(uint32_t kernel, InlayHostBody body, void *const *buffers, int64_t count, int64_t cost) = 0;

  /// As `InlayHostContext::call`.
  virtual Status call(uint32_t kernel, void *const *buffers, const int64_t *sizes) = 0;

  /// Buffers that `HostKernel::constants` names hold something else from here on. Not while a call runs.
  virtual void forgetConstants() = 0;
};

class HostKernelLoader {
public:
  virtual ~HostKernelLoader() = default;

  /// Checks the description of each kernel.
  virtual StatusOr<std::unique_ptr<HostKernels>> load(const HostFunction &function) = 0;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_HOSTKERNELS_H
