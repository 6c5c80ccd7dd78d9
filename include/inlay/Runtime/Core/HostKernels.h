// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that native code of a host function calls back into: multi-threaded loops and library kernels.

#ifndef INLAY_RUNTIME_CORE_HOSTKERNELS_H
#define INLAY_RUNTIME_CORE_HOSTKERNELS_H

#include "inlay/Runtime/Core/Plan.h"

#include <memory>

extern "C" {

/// Runs iterations [begin, end) of a loop over `buffers`.
typedef void (*InlayHostBody)(void *const *buffers, int64_t begin, int64_t end);

/// The last argument of a host function that has kernels. Object code relies on its layout.
struct InlayHostContext {
  /// Runs `body` over [0, count) in chunks, on one or several threads, and returns when all are done. `cost` is the
  /// approximate number of elements that an iteration accesses; short loops stay on one thread.
  void (*run)(InlayHostContext *self, int64_t kernel, InlayHostBody body, void *const *buffers, int64_t count,
              int64_t cost);
  /// Runs a library kernel. After a failure later calls do nothing; the caller of the host function gets the error.
  void (*call)(InlayHostContext *self, int64_t kernel, void *const *buffers, const int64_t *sizes);
};

} // extern "C"

namespace inlay::rt {

/// The loaded kernels of one host function, with the library's primitives and packed weights. Thread-safe.
class HostKernels {
public:
  virtual ~HostKernels() = default;

  /// Implements `InlayHostContext::run`.
  virtual Status run(uint32_t kernel, InlayHostBody body, void *const *buffers, int64_t count, int64_t cost) = 0;

  /// Implements `InlayHostContext::call`.
  virtual Status call(uint32_t kernel, void *const *buffers, const int64_t *sizes) = 0;

  /// Drops everything derived from the buffers that `HostKernel::constants` lists, because their contents have changed.
  /// Must not be called while a call runs.
  virtual void forgetConstants() = 0;
};

class HostKernelLoader {
public:
  virtual ~HostKernelLoader() = default;

  /// Loads the kernels of `function` and checks the description of each.
  virtual StatusOr<std::unique_ptr<HostKernels>> load(const HostFunction &function) = 0;
};

} // namespace inlay::rt

#endif // INLAY_RUNTIME_CORE_HOSTKERNELS_H
