// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that the functions that make allocations fail notice when none has failed.

#include "FailEach.h"

#include <gtest/gtest-spi.h>

#include <vector>

using namespace inlay::rt;
using namespace inlay::rt::test;

static Status allocateNothing() { return Status::ok(); }

/// Allocates in its first two runs only. Those are the ones that `failSome` makes to count allocations.
static Status allocateTwice() {
  static int runs = 0;
  static std::vector<int> *volatile memory;
  if (++runs <= 2) {
    memory = new std::vector<int>(1000);
    delete memory;
  }
  return Status::ok();
}

TEST(FailEachTest, EachMustFail) { EXPECT_NONFATAL_FAILURE(failEach(allocateNothing), "0 allocations"); }

TEST(FailEachTest, SomeMustFail) {
  if (isFull())
    GTEST_SKIP() << "all allocations fail with INLAY_FULL=1";
  EXPECT_NONFATAL_FAILURE(failSome(3, allocateTwice), "no allocation has failed");
}
