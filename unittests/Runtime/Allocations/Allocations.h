// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fault injection for memory: the allocation functions of this executable are replaced, and a single call of any of
// them by Inlay fails on request. Calls by drivers and kernel libraries never fail. The method is that of SQLite's
// tests of out-of-memory errors (sqlite.org/testing.html).

#ifndef INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_ALLOCATIONS_H
#define INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_ALLOCATIONS_H

#include <cstdint>

namespace inlay::rt::test {

/// Makes allocation number `number`, from 0 on, of any thread fail. With `all`, later ones fail too.
void failAllocation(int64_t number, bool all = false);

/// Returns the number of allocations that could fail since the last call of `failAllocation`.
int64_t countAllocations();

/// Allocations of this thread neither fail nor count during its lifetime. For those that a test makes itself.
class NoFailures {
public:
  NoFailures();
  ~NoFailures();
  NoFailures(const NoFailures &) = delete;
  NoFailures &operator=(const NoFailures &) = delete;
};

/// Stops failures. Returns true if an allocation failed since the last call of `failAllocation`.
bool stopFailing();

/// Returns the result of `make`, whose allocations don't fail.
template <typename Make>
auto withoutFailures(Make make) {
  NoFailures guard;
  return make();
}

} // namespace inlay::rt::test

#endif // INLAY_UNITTESTS_RUNTIME_ALLOCATIONS_ALLOCATIONS_H
