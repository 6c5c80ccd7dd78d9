// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LibraryKernel.h"

namespace inlay::rt::host {

StatusOr<std::unique_ptr<LibraryKernel>> makeConvolution(const HostKernel &kernel, SequentialLibrary &) {
  return Status(StatusCode::InvalidArgument, "kernel '" + kernel.name + "': convolutions are not there yet");
}

} // namespace inlay::rt::host
