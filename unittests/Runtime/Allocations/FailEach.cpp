// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FailEach.h"
#include "Allocations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

namespace inlay::rt::test {

namespace {
struct Totals {
  int64_t allocations = 0, errors = 0;
};
} // namespace

bool isFull() {
  const char *value = std::getenv("INLAY_FULL");
  return value && *value && *value != '0';
}

/// Runs `work` while an allocation fails. Returns false if it made fewer allocations.
static bool failOne(int64_t number, const std::function<Status()> &work, const std::function<Status()> &check,
                    Totals &totals) {
  failAllocation(number);
  Status status = work();
  if (!stopFailing())
    return false;
  ++totals.allocations;
  totals.errors += !status.isOk();
  if (!status.isOk()) {
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << "allocation " << number << ": " << status.message();
    EXPECT_NE(status.message(), "") << "allocation " << number;
  }
  Status later = check();
  EXPECT_TRUE(later.isOk()) << "after the failure of allocation " << number << ": " << later.message();
  return true;
}

static void record(const Totals &totals) {
  testing::Test::RecordProperty("allocations", std::to_string(totals.allocations));
  testing::Test::RecordProperty("errors", std::to_string(totals.errors));
}

void failEach(const std::function<Status()> &work, const std::function<Status()> &check) {
  Status first = work(); // objects that live as long as the process are made here
  ASSERT_TRUE(first.isOk()) << first.message();
  Totals totals;
  while (!testing::Test::HasFailure() && failOne(totals.allocations, work, check, totals)) {
  }
  record(totals);
  EXPECT_GT(totals.errors, 0) << totals.allocations << " allocations";
}

void failSome(size_t sample, const std::function<Status()> &work, const std::function<Status()> &check) {
  if (isFull())
    return failEach(work, check);
  Status first = work();
  ASSERT_TRUE(first.isOk()) << first.message();
  failAllocation(INT64_MAX - 1); // only counts
  Status second = work();
  std::vector<int64_t> numbers(static_cast<size_t>(countAllocations()));
  stopFailing();
  ASSERT_TRUE(second.isOk()) << second.message();
  ASSERT_FALSE(numbers.empty());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(5));
  numbers.resize(std::min(numbers.size(), sample));
  Totals totals;
  for (int64_t number : numbers)
    if (!testing::Test::HasFailure())
      failOne(number, work, check, totals); // other runs may make fewer allocations
  record(totals);
  EXPECT_GT(totals.allocations, 0) << "no allocation has failed";
}

void failEach(const std::function<Status()> &work) { failEach(work, work); }
void failSome(size_t sample, const std::function<Status()> &work) { failSome(sample, work, work); }

} // namespace inlay::rt::test
