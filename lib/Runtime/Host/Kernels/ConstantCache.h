// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of weights in the layout of a library. The calls and threads of a kernel share it.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H

#include "Runtime/Host/Support/Memory.h"
#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/Status.h"

#include <map>
#include <string>
#include <vector>

namespace inlay::rt::host {

/// The packed parts of one constant.
using Packed = std::vector<Memory>;

/// Packed constants by address and layout. Thread-safe.
class ConstantCache {
public:
  /// Returns the result of `pack(Packed &)` for the constant at `data`. Calls `pack` once for each layout.
  template <typename Pack>
  StatusOr<std::shared_ptr<const Packed>> get(const void *data, const std::string &layout, const Pack &pack) {
    using Found = StatusOr<std::shared_ptr<const Packed>>;
    return packed_.use([&](Entries &packed) -> Found {
      std::shared_ptr<const Packed> &entry = packed[{data, layout}];
      if (entry)
        return entry;
      auto made = std::make_shared<Packed>();
      if (Status status = pack(*made); !status.isOk()) {
        packed.erase({data, layout});
        return status;
      }
      entry = std::move(made);
      return entry;
    });
  }

  void forget() {
    packed_.use([](Entries &packed) { packed.clear(); });
  }

  /// Returns the number of entries, for tests.
  size_t size() {
    return packed_.use([](Entries &packed) { return packed.size(); });
  }

private:
  using Entries = std::map<std::pair<const void *, std::string>, std::shared_ptr<const Packed>>;

  SharedCache<Entries> packed_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_CONSTANTCACHE_H
