// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FailEach.h"
#include "Allocations.h"

#include <gtest/gtest.h>

namespace inlay::rt::test {

void failEach(const std::function<Status()> &work, const std::function<Status()> &check) {
  Status first = work(); // objects that live as long as the process are made here
  ASSERT_TRUE(first.isOk()) << first.message();
  int64_t number = 0, errors = 0;
  for (;; ++number) {
    failAllocation(number);
    Status status = work();
    bool hasFailed = stopFailing();
    if (!hasFailed)
      break;
    errors += !status.isOk();
    if (!status.isOk()) {
      ASSERT_EQ(status.code(), StatusCode::ResourceExhausted) << "allocation " << number << ": " << status.message();
      ASSERT_NE(status.message(), "") << "allocation " << number;
    }
    Status later = check();
    ASSERT_TRUE(later.isOk()) << "after the failure of allocation " << number << ": " << later.message();
  }
  testing::Test::RecordProperty("allocations", std::to_string(number));
  testing::Test::RecordProperty("errors", std::to_string(errors));
  EXPECT_GT(errors, 0) << number << " allocations";
}

void failEach(const std::function<Status()> &work) { failEach(work, work); }

} // namespace inlay::rt::test
