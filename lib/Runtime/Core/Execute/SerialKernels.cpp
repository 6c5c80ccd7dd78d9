// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the loops of host functions on the calling thread. It has no library kernels.
// Runtime/Host/Kernels/HostKernelLoader.cpp has the kernels with threads.

#include "SerialKernels.h"

#include <fmt/format.h>

namespace inlay::rt {

namespace {
class SerialKernels final : public HostKernels {
public:
  Status run(uint32_t, InlayHostBody body, void *const *buffers, int64_t count, int64_t) override {
    body(buffers, 0, count);
    return Status::ok();
  }
  Status call(uint32_t kernel, void *const *, const int64_t *) override {
    return {StatusCode::Internal, fmt::format("kernel {} is not a library kernel", kernel)};
  }
  void forgetConstants() override {}
};
} // namespace

StatusOr<std::unique_ptr<HostKernels>> loadSerialKernels(const HostFunction &function) {
  for (const HostKernel &kernel : function.kernels)
    if (kernel.kind != HostKernelKind::Loops)
      return Status(StatusCode::InvalidArgument,
                    fmt::format("'{}' has a kernel of kind '{}', but there is no library to run it", function.symbol,
                                name(kernel.kind)));
  return std::unique_ptr<HostKernels>(std::make_unique<SerialKernels>());
}

} // namespace inlay::rt
