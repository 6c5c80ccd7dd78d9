// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as a library wants them, shared by the calls and threads of a kernel.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H

#include "Runtime/Host/Support/Memory.h"
#include "inlay/Runtime/Core/Status.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace inlay::rt::host {

/// The parts that one constant was packed into.
using Packed = std::vector<Memory>;

/// By address and layout. Safe from several threads.
class ConstantCache {
public:
  /// What `pack(Packed &)` makes of the constant at `data`, once for each layout.
  template <typename Pack>
  StatusOr<std::shared_ptr<const Packed>> get(const void *data, const std::string &layout, const Pack &pack) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<const Packed> &entry = packed_[{data, layout}];
    if (entry)
      return entry;
    auto made = std::make_shared<Packed>();
    if (Status status = pack(*made); !status.isOk()) {
      packed_.erase({data, layout});
      return status;
    }
    entry = std::move(made);
    return entry;
  }

  void forget() {
    std::lock_guard<std::mutex> lock(mutex_);
    packed_.clear();
  }

  /// How many there are, for tests.
  size_t size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return packed_.size();
  }

private:
  std::mutex mutex_;
  std::map<std::pair<const void *, std::string>, std::shared_ptr<const Packed>> packed_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H
