// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LibraryKernel: a library kernel of a host function, and helpers that several kinds of kernels share.

#ifndef INLAY_LIB_RUNTIME_HOST_KERNELS_LIBRARYKERNEL_H
#define INLAY_LIB_RUNTIME_HOST_KERNELS_LIBRARYKERNEL_H

#include "Runtime/Host/Support/SequentialLibrary.h"
#include "inlay/Runtime/Core/Fork.h"
#include "inlay/Runtime/Core/Plan.h"

#include <list>
#include <string_view>
#include <vector>

namespace inlay::rt::host {

/// A kernel with its cached plans and weights. Thread-safe.
class LibraryKernel {
public:
  virtual ~LibraryKernel() = default;
  virtual Status call(void *const *buffers, const int64_t *sizes) = 0;
  virtual void forgetConstants() {}
};

/// Each of these checks the description. `library` lives as long as the process.
StatusOr<std::unique_ptr<LibraryKernel>> makeContraction(const HostKernel &kernel, SequentialLibrary &library);
StatusOr<std::unique_ptr<LibraryKernel>> makeConvolution(const HostKernel &kernel, SequentialLibrary &library);
StatusOr<std::unique_ptr<LibraryKernel>> makeAttention(const HostKernel &kernel, SequentialLibrary &library);
StatusOr<std::unique_ptr<LibraryKernel>> makeQuantizedProduct(const HostKernel &kernel, SequentialLibrary &library);
StatusOr<std::unique_ptr<LibraryKernel>> makeIntegerProduct(const HostKernel &kernel);

/// Checks the description of `what`, a product that keeps its post-ops' operands in an array: that it has from `least`
/// to `most` buffers besides these operands, and no post-ops per channel.
Status checkProduct(const HostKernel &kernel, std::string_view what, size_t least, size_t most);

/// Returns the library's primitive, or a built-in one for a shape that the library does not support.
StatusOr<std::shared_ptr<Gemm>> makeGemm(SequentialLibrary &library, const GemmShape &shape);

StatusOr<std::shared_ptr<ConvolutionPrimitive>> makeConvolutionPrimitive(SequentialLibrary &library,
                                                                         const ConvolutionShape &shape);

/// Returns true if `buffer` holds the same data at each call.
bool isConstant(const HostKernel &kernel, uint32_t buffer);

/// Returns the number of threads that slices are made for: that of the pool, or a fixed one if results must not depend
/// on the number of threads.
int64_t threadsToPlanFor();

/// Returns the number of tasks that a thread takes at a time if each has `work` multiplications.
int64_t chooseChunk(int64_t tasks, double work);

/// A cache of plans for the most recent sizes. Thread-safe.
template <typename Plan>
class PlanCache {
public:
  /// Returns the plan for `key`, from `make()` if there is none. Several threads may make the same plan.
  template <typename Make>
  StatusOr<std::shared_ptr<const Plan>> get(std::vector<int64_t> key, const Make &make) {
    std::shared_ptr<const Plan> known = entries_.use([&](Entries &entries) -> std::shared_ptr<const Plan> {
      for (auto it = entries.begin(); it != entries.end(); ++it)
        if (it->first == key) {
          entries.splice(entries.begin(), entries, it);
          return entries.front().second;
        }
      return nullptr;
    });
    if (known)
      return known;
    StatusOr<std::shared_ptr<const Plan>> made = make();
    if (!made.isOk())
      return made;
    entries_.use([&](Entries &entries) {
      entries.emplace_front(std::move(key), *made);
      if (entries.size() > kMaxPlans)
        entries.pop_back();
    });
    return made;
  }

private:
  using Entries = std::list<std::pair<std::vector<int64_t>, std::shared_ptr<const Plan>>>;

  static constexpr size_t kMaxPlans = 8;
  SharedCache<Entries> entries_;
};

} // namespace inlay::rt::host

#endif // INLAY_LIB_RUNTIME_HOST_KERNELS_LIBRARYKERNEL_H
